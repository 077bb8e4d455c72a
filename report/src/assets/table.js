  // Buttons in the header cells of a table; `sort` gets the column and whether it ascends.
  const sortButtons = (table, sort) => {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      const button = make("button", { type: "button" }, head.textContent);
      head.replaceChildren(button);
      button.addEventListener("click", () => {
        const text = head.dataset.type === "text";
        const now = head.getAttribute("aria-sort");
        const next = now === "descending" || (text && now !== "ascending") ? "ascending" : "descending";
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", next);
        sort(column, next === "ascending", text);
      });
    });
  };

  // Tables whose rows stand in the page.
  const sortableTable = (table) => {
    sortButtons(table, (column, ascending, text) => {
      const body = table.tBodies[0];
      const value = (row) => row.cells[column].dataset.value;
      const order = text
        ? (a, b) => (value(a) < value(b) ? -1 : value(a) > value(b) ? 1 : 0)
        : (a, b) => Number(value(a)) - Number(value(b));
      body.append(...[...body.rows].sort(ascending ? order : (a, b) => order(b, a)));
    });
  };

  // A search shows the rows in a table whose `lower` has all the words, and without words those that the table has; `also`
  // gets them, too. Enter opens the first of them, arrows go through them.
  const searchBox = (input, rows, table, also) => {
    const first = table.rows;
    const output = document.getElementById(input.getAttribute("aria-controls"));
    const find = () => {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      const found = words.length ? rows.filter((row) => words.every((word) => row.lower.includes(word))) : first;
      table.box.closest(".overview").classList.toggle("searching", words.length > 0);
      table.show(found);
      if (also) {
        also(found);
      }
      output.textContent = words.length ? `${thousands(found.length)} of ${thousands(rows.length)}` : "";
    };
    input.addEventListener("input", find);
    input.addEventListener("keydown", (event) => {
      const first = table.pressable(0);
      if (first && (event.key === "Enter" || event.key === "ArrowDown")) {
        event.preventDefault();
        event.key === "Enter" ? first.click() : first.focus();
      }
    });
    table.table.addEventListener("keydown", (event) => {
      const row = event.target.closest("tbody tr");
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (!row || (!step && event.key !== "Escape") || event.ctrlKey || event.altKey || event.metaKey) {
        return;
      }
      event.preventDefault();
      const next = step ? row.sectionRowIndex + step : -1;
      (next < 0 ? input : table.pressable(next))?.focus();
    });
    // A browser that comes back to the page fills it in.
    if (input.value) {
      find();
    }
  };
  addEventListener("keydown", (event) => {
    const typing = event.target instanceof Element && event.target.closest("input, textarea, select");
    const search = document.getElementById("search") || document.querySelector("input[type=search]");
    if (search && event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      search.focus({ preventScroll: true });
      search.select();
      // At the top: what is found is below.
      search.closest(".search").scrollIntoView({ behavior: "instant", block: "start" });
    }
  });

  // A table whose rows are made when the reader comes to them. A column has `value` (for the order) and `cell` (what is shown).
  class LazyTable {
    constructor(table, columns, rows) {
      const batch = 60;
      this.table = table;
      this.columns = columns;
      this.rows = rows;
      this.order = null;
      this.batch = batch;
      this.box = table.closest(".scrolled");
      sortButtons(table, (column, ascending, text) => {
        const value = columns[column].value;
        const up = text
          ? (a, b) => (value(a) < value(b) ? -1 : value(a) > value(b) ? 1 : 0)
          : (a, b) => Number(value(a)) - Number(value(b));
        this.order = ascending ? up : (a, b) => up(b, a);
        this.show(this.rows);
      });
      this.box.addEventListener("scroll", () => this.more());
      addEventListener("resize", () => this.more());
      // On paper there is nothing to scroll: all that was found, within reason.
      addEventListener("beforeprint", () => this.make(Math.max(this.made, Math.min(this.sorted.length, 1000))));
      this.show(rows);
    }

    show(rows) {
      this.rows = rows;
      this.sorted = this.order ? [...rows].sort(this.order) : rows;
      this.made = 0;
      this.table.tBodies[0].replaceChildren();
      this.table.setAttribute("aria-rowcount", this.sorted.length + 1);
      this.box.scrollTop = 0;
      this.more();
    }

    // Rows until there are some below what is seen.
    more() {
      const near = () => this.box.scrollTop + 2 * this.box.clientHeight + 400 > this.box.scrollHeight;
      do {
        this.make(this.made + this.batch);
      } while (this.made < this.sorted.length && this.box.clientHeight > 0 && near());
    }

    // What opens a row: its link or button. Nothing behind the last row.
    pressable(index) {
      if (index >= this.made) {
        this.make(index + this.batch);
      }
      return this.table.tBodies[0].rows[index]?.querySelector("a, button");
    }

    make(until) {
      const rows = this.sorted.slice(this.made, until).map((row, index) =>
        make(
          "tr",
          { "aria-rowindex": this.made + index + 2 },
          ...this.columns.map((column) => make("td", { class: column.class }, ...column.cell(row))),
        ),
      );
      this.table.tBodies[0].append(...rows);
      this.made += rows.length;
    }
  }
