  // A tree as ARIA has it: one item can be reached with Tab, arrows go through the others. Branches are made when they are
  // opened. An item has `label` (what is shown), `name` (what is read), `children` (a function, or nothing) and `act` (what
  // Enter and a click do, if not opening).
  class Tree {
    constructor(root) {
      this.root = root;
      this.items = new WeakMap();
      root.addEventListener("keydown", (event) => this.key(event));
      root.addEventListener("click", (event) => this.click(event));
    }

    show(items, open) {
      this.root.replaceChildren(...this.rows(items, 1));
      if (open) {
        this.root.querySelectorAll(":scope > [aria-expanded]").forEach((row) => this.openAll(row));
      }
      const first = this.root.firstElementChild;
      if (first) {
        first.tabIndex = 0;
      }
    }

    rows(items, level) {
      return items.map((item, index) => {
        const row = make(
          "li",
          {
            role: "treeitem",
            tabindex: "-1",
            "aria-level": level,
            "aria-posinset": index + 1,
            "aria-setsize": items.length,
            "aria-label": item.name,
            "aria-expanded": item.children ? "false" : null,
          },
          make("div", { class: "item" }, ...item.label()),
        );
        this.items.set(row, item);
        return row;
      });
    }

    open(row) {
      if (row.getAttribute("aria-expanded") !== "false") {
        return;
      }
      row.setAttribute("aria-expanded", "true");
      if (!row.querySelector(":scope > ul")) {
        const level = Number(row.getAttribute("aria-level")) + 1;
        row.append(make("ul", { role: "group" }, ...this.rows(this.items.get(row).children(), level)));
      }
    }

    openAll(row) {
      this.open(row);
      row.querySelectorAll(":scope > ul > [aria-expanded]").forEach((below) => this.openAll(below));
    }

    close(row) {
      row.setAttribute("aria-expanded", "false");
    }

    focus(row) {
      if (row) {
        this.root.querySelectorAll("[tabindex='0']").forEach((other) => (other.tabIndex = -1));
        row.tabIndex = 0;
        row.focus();
      }
    }

    // Those that are not in a closed branch.
    visible() {
      const rows = [...this.root.querySelectorAll("[role=treeitem]")];
      return rows.filter((row) => !row.parentElement.closest("[aria-expanded=false]"));
    }

    press(row) {
      const item = this.items.get(row);
      if (item.act) {
        item.act(row);
      } else if (row.getAttribute("aria-expanded") === "true") {
        this.close(row);
      } else {
        this.open(row);
      }
    }

    click(event) {
      const row = event.target.closest("[role=treeitem]");
      const mine = event.target.closest(".item");
      if (row && mine) {
        this.focus(row);
        this.press(row);
      }
    }

    key(event) {
      const row = event.target.closest("[role=treeitem]");
      if (!row || event.ctrlKey || event.altKey || event.metaKey) {
        return;
      }
      const rows = this.visible();
      const at = rows.indexOf(row);
      const expanded = row.getAttribute("aria-expanded");
      const above = row.parentElement.closest("[role=treeitem]");
      const acts = {
        ArrowDown: () => this.focus(rows[at + 1]),
        ArrowUp: () => this.focus(rows[at - 1]),
        Home: () => this.focus(rows[0]),
        End: () => this.focus(rows[rows.length - 1]),
        ArrowRight: () => (expanded === "true" ? this.focus(rows[at + 1]) : this.open(row)),
        ArrowLeft: () => (expanded === "true" ? this.close(row) : this.focus(above)),
        Enter: () => this.press(row),
        " ": () => this.press(row),
      };
      if (acts[event.key]) {
        event.preventDefault();
        acts[event.key]();
      }
    }
  }
