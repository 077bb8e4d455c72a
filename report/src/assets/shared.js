  // What all parts of the page use.

  // An element: make("td", { class: "num" }, "text", child, …). Text is set as text, never as markup.
  const make = (name, attributes, ...children) => {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes || {})) {
      if (value !== undefined && value !== null && value !== false) {
        element.setAttribute(key, value === true ? "" : value);
      }
    }
    element.append(...children);
    return element;
  };

  // Data that stands in the page; null if there is none.
  const embedded = (id) => {
    const element = document.getElementById(id);
    return element && JSON.parse(element.textContent);
  };

  // Numbers beyond 2^53 are strings, so that no digit is lost; for sums and order they are close enough.
  const thousands = (value) => {
    if (typeof value === "number" && !Number.isSafeInteger(value)) {
      return `about ${value.toExponential(2)}`;
    }
    return String(value).replace(/\B(?=(\d{3})+$)/g, ",");
  };
  const percent = (share) => (share > 0 && share < 0.0005 ? "<0.1 %" : `${(share * 100).toFixed(1)} %`);
  const bar = (share) => {
    const inner = make("i", {});
    inner.style.width = `${(Math.min(Math.max(share, 0), 1) * 100).toFixed(2)}%`;
    return make("span", { class: "bar", "aria-hidden": "true" }, inner);
  };

  // Enter and the space bar do what a click does.
  const onPress = (element, act) => {
    element.addEventListener("click", act);
    element.addEventListener("keydown", (event) => {
      if ((event.key === "Enter" || event.key === " ") && event.target === element) {
        event.preventDefault();
        act(event);
      }
    });
  };

  // What a link's #… stands for; a name may have a % of its own.
  const decoded = (text) => {
    try {
      return decodeURIComponent(text);
    } catch {
      return text;
    }
  };

  // Brings a row of a box into its upper third, without moving the page.
  const scrollWithin = (box, row) => {
    const down = row.getBoundingClientRect().top - box.getBoundingClientRect().top;
    box.scrollTop += down - box.clientHeight / 3;
  };
