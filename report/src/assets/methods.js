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
        index, pkg, cls, className, signature, name, flow, count, seen, possible,
        lower: name.toLowerCase(),
        share: Number(flow) / total,
        time: data.time ? data.time[index] / 1e6 : 0,
        anchor: data.anchors[index] || name.replaceAll(" ", ""),
      };
    });
    const byAnchor = new Map(methods.map((method) => [method.anchor, method]));
    const link = (method) => `#${method.anchor.replaceAll("%", "%25")}`;

    // A long name breaks behind its dots.
    const dotted = (name) => name.split(/(?<=\.)/).flatMap((part) => [part, make("wbr", {})]);
    const share = (key) => ({
      class: "num",
      value: (method) => method[key],
      cell: (method) => [bar(method[key]), make("span", {}, percent(method[key]))],
    });
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
      cell: (method) => [thousands(method[key])],
    });
    const table = new LazyTable(
      document.getElementById("all-methods"),
      [
        { value: (method) => method.name, cell: nameCell },
        ...(data.time ? [share("time")] : []),
        share("share"),
        number("flow"),
        number("count"),
        number("seen"),
        number("possible"),
      ],
      methods,
    );

    // The tree, with sums of what was found.
    const tree = new Tree(document.getElementById("tree"));
    document.querySelector(".tree-box").hidden = false;
    const grouped = (list, key) => {
      const groups = new Map();
      for (const method of list) {
        const group = groups.get(method[key]) || { key: method[key], list: [], flow: 0, count: 0 };
        group.list.push(method);
        group.flow += Number(method.flow);
        group.count += Number(method.count);
        groups.set(method[key], group);
      }
      return [...groups.values()].sort((a, b) => b.flow - a.flow || b.count - a.count);
    };
    const item = (text, flow, count, methodsBelow, rest) => {
      const share = flow / total;
      const many = methodsBelow === 1 ? "1 method" : `${thousands(methodsBelow)} methods`;
      const numbers = `${percent(share)}, ${thousands(count)} times`;
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
      item(method.signature, Number(method.flow), Number(method.count), 0, { act: () => goTo(link(method)) });
    const classes = (list) =>
      grouped(list, "cls").map((group) =>
        item(data.classes[group.key][1], group.flow, group.count, group.list.length, { children: () => group.list.map(leaf) }),
      );
    const packages = (list) =>
      grouped(list, "pkg").map((group) =>
        item(data.packages[group.key] || "(no package)", group.flow, group.count, group.list.length, {
          children: () => classes(group.list),
        }),
      );
    tree.show(packages(methods), methods.length <= 30);

    searchBox(document.getElementById("search"), methods, (found) => {
      table.show(found);
      tree.show(packages(found), found.length <= 30);
    });

    // A method without a section: its numbers, and how to see the rest.
    return (anchor) => {
      const method = byAnchor.get(anchor);
      const section = document.getElementById("elsewhere");
      section.hidden = !method;
      if (!method) {
        return false;
      }
      const pattern = `${method.name.slice(0, method.name.length - method.signature.length - 1)}#${method.signature.split("(")[0]}`;
      document.getElementById("elsewhere-title").textContent = method.name;
      document.getElementById("elsewhere-numbers").textContent =
        `${percent(method.share)} of all decisions · ${thousands(method.count)} times · ${thousands(method.seen)} of ` +
        `${thousands(method.possible)} possible paths seen`;
      document.getElementById("elsewhere-command").textContent =
        `trodden report FILE --method '${pattern.replaceAll("'", "'\\''")}' -o method.html`;
      section.focus({ preventScroll: true });
      section.scrollIntoView({ behavior: "instant" });
      return true;
    };
  };
