  // Slow requests: the reader chooses a band of latencies; what its requests do more often than all others is said.
  const slowRequests = () => {
    const data = embedded("requests-data");
    if (!data) {
      return;
    }
    // Standard errors of a difference that is said, with as many things looked at as there are, and the reader's choices.
    const SURE = 4.5;
    const MIN_MORE = 0.02;
    const LISTED = 6;

    // What requests of the bands from one to another (not included) do more often than those of all other bands.
    const differs = ({ weights, things }, from, to) => {
      const inside = (at) => at >= from && at < to;
      const sum = (list, is) => list.reduce((all, value, at) => (is(at) ? all + value : all), 0);
      const outside = (at) => !inside(at);
      const total = [inside, outside].map((is) => sum(weights.map(([weight]) => weight), is));
      const squares = [inside, outside].map((is) => sum(weights.map(([, square]) => square), is));
      // As many equal weights as these are worth (Kish).
      const size = total.map((weight, which) => (squares[which] > 0 ? (weight * weight) / squares[which] : 0));
      const found = [];
      for (const thing of things) {
        const [a, b] = [inside, outside].map((is, which) => (total[which] > 0 ? sum(thing.sums, is) / total[which] : 0));
        const all = (a * size[0] + b * size[1]) / (size[0] + size[1]);
        const error = Math.sqrt(all * (1 - all) * (1 / size[0] + 1 / size[1]));
        if (a - b >= MIN_MORE && a - b >= SURE * error) {
          const part = total[0] / (total[0] + total[1]);
          const of = a * part + b * (1 - part);
          const score = ((a - b) * Math.sqrt(part * (1 - part))) / Math.sqrt(of * (1 - of) || 1);
          found.push({ thing, a, b, score });
        }
      }
      found.sort((x, y) => y.score - x.score);
      return { found: found.slice(0, LISTED), samples: size };
    };

    for (const box of document.querySelectorAll(".requests[data-at]")) {
      const of = data[Number(box.dataset.at)];
      const picture = box.querySelector(".latencies");
      const [low, high] = box.querySelectorAll(".choice input");
      if (!of || !low || !high) {
        continue;
      }
      const bars = [...picture.querySelectorAll(".band")];
      const [answer, ofBand] = [box.querySelector(".answer"), box.querySelector(".of-band")];
      const words = (at) => {
        low.setAttribute("aria-valuetext", of.bounds[Number(low.value)]);
        high.setAttribute("aria-valuetext", of.bounds[Number(high.value)]);
        return at;
      };

      // The answer that was in the page, or that of a band.
      const show = (from, to) => {
        const isSlow = from === of.over && to === of.counts.length;
        const isAll = from === 0 && to === of.counts.length;
        [low.value, high.value] = [from, to];
        words();
        bars.forEach((bar, at) => bar.classList.toggle("on", at >= from && at < to));
        picture.classList.toggle("chosen", !isSlow && !isAll);
        answer.hidden = !isSlow && !isAll;
        ofBand.hidden = isSlow || isAll;
        if (ofBand.hidden) {
          return;
        }
        const count = of.counts.slice(from, to).reduce((all, one) => all + one, 0);
        const { found, samples } = differs(of, from, to);
        const head = make("p", {}, make("b", {}, `${thousands(count)} requests from ${of.bounds[from]} to ${of.bounds[to]}`));
        const list = make("ol", { class: "findings" });
        for (const { thing, a, b } of found) {
          const item = make("li", {}, make("p", {}, `${percent(a)} ${thing.text} (others: ${percent(b)})`));
          item.append(make("p", { class: "note" }, bar(a), " of these, ", bar(b), " of the others"));
          if (thing.source) {
            // Our own markup, in which all text was escaped.
            item.insertAdjacentHTML("beforeend", thing.source);
          }
          list.append(item);
        }
        const few = samples[0] < 5 || samples[1] < 5;
        const nothing = few ? "Too few of these requests had their paths read." : "No path tells these from the others.";
        ofBand.replaceChildren(head, found.length > 0 ? list : make("p", {}, nothing));
      };

      const band = (event) => {
        const { left, width } = picture.getBoundingClientRect();
        const at = Math.floor(((event.clientX - left) / Math.max(width, 1)) * of.counts.length);
        return Math.min(Math.max(at, 0), of.counts.length - 1);
      };
      let begun = null;
      picture.addEventListener("pointerdown", (event) => {
        begun = band(event);
        picture.setPointerCapture(event.pointerId);
        show(begun, begun + 1);
      });
      picture.addEventListener("pointermove", (event) => {
        if (begun !== null) {
          const here = band(event);
          show(Math.min(begun, here), Math.max(begun, here) + 1);
        }
      });
      for (const end of ["pointerup", "pointercancel"]) {
        picture.addEventListener(end, () => {
          begun = null;
        });
      }
      low.addEventListener("input", () => show(Number(low.value), Math.max(Number(high.value), Number(low.value) + 1)));
      high.addEventListener("input", () => show(Math.min(Number(low.value), Number(high.value) - 1), Number(high.value)));
      box.querySelector(".choice button").addEventListener("click", () => show(Math.min(of.over, of.counts.length - 1), of.counts.length));
      words();
    }
  };
  slowRequests();
