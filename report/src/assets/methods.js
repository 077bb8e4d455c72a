  // All methods: search, tree, table, and what there is to say of one that has no section of its own.
  const allMethods = () => {
    const data = embedded("methods-data");
    if (!data) {
      return;
    }
    const total = Math.max(Number(data.flow), 1);
    const methods = data.methods.map(([cls, signature, flow, count, seen, possible], index) => {
      const [pkg, className] = data.classes[cls];
      const prefix = data.packages[pkg] ? `${data.packages[pkg]}.` : "";
      const name = `${prefix}${className}.${signature}`;
      return {
        index, className, signature, name, flow, count, seen, possible,
        pkg: data.packages[pkg],
        lower: name.toLowerCase(),
        share: Number(flow) / total,
        time: data.time ? data.time[index][0] / 1e6 : 0,
        callees: data.time ? data.time[index][1] / 1e6 : 0,
        anchor: data.anchors[index] || name.replaceAll(" ", ""),
      };
    });
    // Without a search methods whose time is all in their callers would only be in the way.
    const isShown = (method) => !method.reason || method.time > 0;
    const byAnchor = new Map(methods.map((method) => [method.anchor, method]));
    // Methods of which no path was counted, but that have CPU time.
    for (const [name, time, callees, own, reason] of data.others) {
      const upTo = name.split("(")[0].lastIndexOf(".");
      const qualified = name.slice(0, Math.max(upTo, 0));
      const method = {
        index: methods.length,
        pkg: qualified.slice(0, Math.max(qualified.lastIndexOf("."), 0)),
        className: qualified.slice(qualified.lastIndexOf(".") + 1),
        signature: name.slice(upTo + 1),
        name, flow: 0, count: 0, share: 0,
        reason: data.reasons[reason],
        lower: name.toLowerCase(),
        time: time / 1e6,
        callees: callees / 1e6,
        own: own / 1e6,
        anchor: name.replaceAll(" ", ""),
      };
      methods.push(method);
      if (!byAnchor.has(method.anchor)) {
        byAnchor.set(method.anchor, method);
      }
    }
    if (data.others.length) {
      methods.sort((a, b) => b.time - a.time);
    }
    const shown = methods.filter(isShown);
    const link = (method) => `#${method.anchor.replaceAll("%", "%25")}`;

    // A long name breaks behind its dots.
    const dotted = (name) => name.split(/(?<=\.)/).flatMap((part) => [part, make("wbr", {})]);
    const share = (key) => ({
      class: "num",
      value: (method) => method[key],
      cell: (method) => [bar(method[key]), make("span", {}, percent(method[key]))],
    });
    const callees = { class: "num", value: (method) => method.callees, cell: (method) => [percent(method.callees)] };
    // The time of a method without counts is that of its caller with counts, if it has one.
    const time = {
      ...share("time"),
      cell: (method) => (method.reason && !method.time ? [make("span", { class: "soft" }, "in its callers")] : share("time").cell(method)),
    };
    // Of what is counted; a method without counts has none.
    const decided = {
      class: "num",
      value: (method) => method.share,
      cell: (method) => (method.reason ? [] : [make("span", { title: thousands(method.flow) }, percent(method.share))]),
    };
    const nameCell = (method) => [
      make(
        "a",
        { href: link(method), class: method.index < data.full ? null : "brief" },
        make("span", { class: "package" }, ...dotted(method.name.slice(0, method.name.length - method.signature.length))),
        make("b", {}, method.signature),
      ),
    ];
    const number = (key) => ({
      class: "num",
      value: (method) => method[key],
      cell: (method) => (method.reason ? [] : [thousands(method[key])]),
    });
    const table = new LazyTable(
      document.getElementById("all-methods"),
      [
        { class: "name", value: (method) => method.name, cell: nameCell },
        ...(data.time ? [time, callees, decided] : [share("share"), number("flow")]),
        number("count"),
        number("seen"),
        number("possible"),
      ],
      shown,
    );

    // The tree, with sums of what was found.
    const tree = new Tree(document.getElementById("tree"));
    document.querySelector(".tree-box").hidden = false;
    const grouped = (list, key) => {
      const groups = new Map();
      for (const method of list) {
        const group = groups.get(method[key]) || { key: method[key], list: [], share: 0, count: 0 };
        group.list.push(method);
        group.share += data.time ? method.time : method.share;
        group.count += Number(method.count);
        groups.set(method[key], group);
      }
      return [...groups.values()].sort((a, b) => b.share - a.share || b.count - a.count);
    };
    // The number is the one that the table has first: CPU time, or share of all decisions.
    const item = (text, share, count, methodsBelow, rest) => {
      const many = methodsBelow === 1 ? "1 method" : `${thousands(methodsBelow)} methods`;
      const numbers = `${percent(share)} ${data.time ? "own time" : "of all decisions"}, ${thousands(count)} times`;
      return {
        name: methodsBelow ? `${text}, ${many}, ${numbers}` : `${text}, ${numbers}`,
        label: () => [
          make("span", { class: "label" }, ...dotted(text)),
          make("span", { class: "soft", title: `${numbers}${methodsBelow ? `, ${many}` : ""}` }, make("span", { class: "many" }, methodsBelow ? many : ""), bar(share), percent(share)),
        ],
        ...rest,
      };
    };
    const leaf = (method) =>
      item(method.signature, data.time ? method.time : method.share, Number(method.count), 0, { act: () => goTo(link(method)) });
    const classes = (list) =>
      grouped(list, "className").map((group) =>
        item(group.key, group.share, group.count, group.list.length, { children: () => group.list.map(leaf) }),
      );
    const packages = (list) =>
      grouped(list, "pkg").map((group) =>
        item(group.key || "(no package)", group.share, group.count, group.list.length, { children: () => classes(group.list) }),
      );
    const showTree = (list) => tree.show(packages(list), list.length <= 30);
    showTree(shown);
    searchBox(document.getElementById("search"), methods, table, showTree);

    // A method without a section: its numbers, and how to see the rest.
    return (anchor) => {
      const method = byAnchor.get(anchor);
      const section = document.getElementById("elsewhere");
      section.hidden = !method;
      if (!method) {
        return false;
      }
      const time = method.reason
        ? `${percent(method.own)} of the CPU time in itself · ${percent(method.callees)} with callees`
        : `${percent(method.time)} own time · ${percent(method.callees)} with callees`;
      const elsewhere = method.reason && !method.time ? " In the table its time is in that of the methods that call it." : "";
      document.getElementById("elsewhere-reason").textContent = (method.reason || "") + elsewhere;
      document.getElementById("elsewhere-more").hidden = Boolean(method.reason);
      const pattern = `${method.name.slice(0, method.name.length - method.signature.length - 1)}#${method.signature.split("(")[0]}`;
      document.getElementById("elsewhere-title").textContent = method.name;
      document.getElementById("elsewhere-numbers").textContent =
        method.reason
          ? time
          : `${data.time ? `${time} · ` : ""}${percent(method.share)} of all decisions · ${thousands(method.count)} times · ` +
            `${thousands(method.seen)} of ${thousands(method.possible)} possible paths seen`;
      document.getElementById("elsewhere-command").textContent =
        `trodden report FILE --method '${pattern.replaceAll("'", "'\\''")}' -o method.html`;
      section.focus({ preventScroll: true });
      section.scrollIntoView({ behavior: "instant" });
      return true;
    };
  };
