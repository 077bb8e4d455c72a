  // CPU time: an icicle in which a method can be split by the path that led to its calls.
  const cpuTime = () => {
    const data = embedded("time-data");
    if (!data) {
      return;
    }
    const chains = data.chains.map(([, name, place, own, rest]) => ({ name, place, own: Number(own), rest: Number(rest), children: [] }));
    const first = [];
    data.chains.forEach(([parent], at) => (parent < 0 ? first : chains[parent].children).push(chains[at]));
    // Who is called stands behind who calls.
    for (const chain of [...chains].reverse()) {
      chain.inclusive = chain.children.reduce((sum, child) => sum + child.inclusive, chain.own + chain.rest);
    }
    const total = Math.max(Number(data.total), 1);
    const seconds = (ns) => (ns < 1e9 ? `${(ns / 1e6).toFixed(0)} ms` : `${(ns / 1e9).toFixed(1)} s`);
    const UNKNOWN = 2;

    // A box represents parts of chains. `sure`: as much of the chain as no counts were needed for. Of two methods that
    // are split on one chain, as much as the parts must have in common.
    const opened = new Set();
    let openAll = false;
    class Group {
      constructor(parent, parts, name, way) {
        Object.assign(this, { parent, parts, name, way });
        this.key = `${parent ? parent.key : ""}/${way === undefined ? name : `#${way}`}`;
        const sum = (of) => parts.reduce((all, part) => all + of(part.chain) * part.factor, 0);
        this.inclusive = sum((chain) => chain.inclusive);
        this.certain = parts.reduce((all, part) => all + part.chain.inclusive * part.sure, 0);
        this.own = sum((chain) => chain.own);
      }
      get canSplit() {
        return this.way === undefined && this.parts.some((part) => part.chain.place >= 0);
      }
      get isSplit() {
        return this.canSplit && opened.has(this.key) !== openAll;
      }
      get children() {
        if (!this.kids || this.kidsSplit !== this.isSplit) {
          this.kidsSplit = this.isSplit;
          this.kids = this.isSplit ? this.ways() : this.calls();
        }
        return this.kids;
      }
      collect(pairs, make) {
        const groups = new Map();
        for (const [key, part] of pairs) {
          groups.set(key, [...(groups.get(key) || []), part]);
        }
        return [...groups].map(([key, parts]) => make(parts, key)).sort((a, b) => b.inclusive - a.inclusive || (a.key < b.key ? -1 : 1));
      }
      ways() {
        const pairs = this.parts.flatMap(({ chain, factor, sure }) =>
          data.places[chain.place].map(([way, part, known]) => [way, { chain, factor: factor * part, sure: Math.max(sure + known - 1, 0) }]));
        return this.collect(pairs, (parts, way) => new Group(this, parts, this.name, way));
      }
      calls() {
        const pairs = this.parts.flatMap((part) => part.chain.children.map((chain) => [chain.name, { ...part, chain }]));
        return this.collect(pairs, (parts, name) => new Group(this, parts, name));
      }
    }
    class All extends Group {
      calls() {
        return this.collect(first.map((chain) => [chain.name, { chain, factor: 1, sure: 1 }]), (parts, name) => new Group(this, parts, name));
      }
    }
    const root = new All(null, [], null);
    root.inclusive = root.certain = first.reduce((sum, chain) => sum + chain.inclusive, 0);

    const isUnknown = (group) => data.ways[group.way][1] === UNKNOWN;
    const how = (group) => {
      const divided = group.inclusive - group.certain;
      if (divided < 1) {
        return group.way === undefined ? "" : "; all of it is certain";
      }
      return `; ${seconds(group.certain)} are certain, ${seconds(divided)} divided by how often paths ran`;
    };
    const words = (group) => {
      const time = `${seconds(group.inclusive)} (${percent(group.inclusive / total)})`;
      if (group === root) {
        return `all: ${time}`;
      }
      if (group.way === undefined) {
        const hint = group.canSplit ? `. P ${group.isSplit ? "puts its paths together" : "splits it by path"}` : "";
        return `${data.names[group.name]}: ${time}, ${seconds(group.own)} of its own${how(group)}${hint}`;
      }
      return isUnknown(group)
        ? `${shortName(data.names[group.name])}, path not known: ${time}; the counts do not tell which paths took it`
        : `${shortName(data.names[group.name])}, ${data.ways[group.way][0]}: ${time}${how(group)}`;
    };
    let picture = null;
    const toggle = (group) => {
      opened.has(group.key) ? opened.delete(group.key) : opened.add(group.key);
      picture.draw(group, true);
    };
    const fill = (element, group) => {
      if (group === root) {
        element.append(make("span", {}, "all"));
        return;
      }
      if (group.way !== undefined) {
        element.classList.add("way");
        element.classList.toggle("unknown", isUnknown(group));
        element.style.setProperty("--sure", `${((100 * group.certain) / Math.max(group.inclusive, 1)).toFixed(2)}%`);
        element.append(make("span", {}, data.ways[group.way][0]));
        return;
      }
      element.style.setProperty("--hue", classHue(data.names[group.name]));
      if (group.canSplit) {
        const button = make("button", { class: "open", type: "button", tabindex: "-1", "aria-hidden": "true" }, group.isSplit ? "▾" : "▸");
        button.addEventListener("click", (event) => {
          event.stopPropagation();
          toggle(group);
        });
        element.append(button);
      }
      element.append(make("span", {}, shortName(data.names[group.name])));
    };
    const box = document.getElementById("time-icicle");
    picture = icicle({
      box,
      told: document.getElementById("time-told"),
      all: document.getElementById("time-all"),
      search: document.getElementById("time-search"),
      root,
      words,
      name: (group) => (group.way === undefined ? data.names[group.name] : `${data.names[group.name]} ${data.ways[group.way][0]}`),
      fill,
      found: (ns) => `${percent(ns / total)} of the CPU time`,
    });
    box.addEventListener("keydown", (event) => {
      const group = picture.boxes.get(event.target);
      if (event.key === "p" && group && group.canSplit && !event.ctrlKey && !event.altKey && !event.metaKey) {
        event.preventDefault();
        toggle(group);
      }
    });
    const every = document.getElementById("time-split");
    if (every) {
      every.addEventListener("click", () => {
        openAll = !openAll;
        opened.clear();
        every.setAttribute("aria-pressed", String(openAll));
        picture.draw(root, false);
      });
    }
  };
  cpuTime();
