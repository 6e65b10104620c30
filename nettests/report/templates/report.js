"use strict";
// Filters, the theme and evidence: packed below each flow, it is unpacked when somebody opens a check. Verdicts, messages
// and matrices are there without a script. Nothing is parsed as markup: elements are made by name, texts put in as texts.
(() => {
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  document.body.classList.add("scripted");

  // --- theme
  const root = document.documentElement;
  const theme = document.getElementById("theme");
  const dark = () => root.dataset.theme
    ? root.dataset.theme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;
  const nameTheme = () => {
    theme.textContent = dark() ? "Light" : "Dark";
    theme.title = `Show the page in ${theme.textContent.toLowerCase()} colours`;
  };
  theme.addEventListener("click", () => { root.dataset.theme = dark() ? "light" : "dark"; nameTheme(); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", nameTheme);
  nameTheme();

  // --- overview: a suite's flows come and go
  for (const fold of all(".fold")) {
    fold.addEventListener("click", () => {
      const open = fold.closest("tbody").classList.toggle("open");
      fold.setAttribute("aria-expanded", String(open));
    });
  }
  document.querySelector(".overview")?.addEventListener("click", ({ target }) => {
    if (target.closest(".tally")) target.closest("tr").querySelector("a").click();
  });

  // --- pictures of the fleet: which pair is under the pointer
  let toPair = () => {};
  for (const figure of all(".heat")) {
    const [rows, columns] = [figure.dataset.rows.split("|"), figure.dataset.columns.split("|")];
    const picture = figure.querySelector("svg");
    const told = document.createElement("output");
    const pairAt = (event) => {
      if (!told.parentNode) figure.querySelector("figcaption").append(told);
      const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(picture.getScreenCTM().inverse());
      const [row, column] = [rows[Math.floor(at.y / 14)], columns[Math.floor(at.x / 14)]];
      return told.textContent = row && column ? `${row} → ${column}` : "";
    };
    picture.addEventListener("pointermove", pairAt);
    if (!figure.querySelector("a")) picture.addEventListener("click", (event) => toPair(figure, pairAt(event)));
  }

  // --- evidence: JSON in zlib's format in Base64, one block a flow; see nettests/report/packed.py
  const unpacked = new Map();
  const unpack = (block) => {
    if (!unpacked.has(block)) {
      const bytes = Uint8Array.from(atob(block.textContent), (letter) => letter.charCodeAt(0));
      const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
      unpacked.set(block, new Response(stream).json());
    }
    return unpacked.get(block);
  };
  const element = (node) => {
    if (typeof node === "string") return document.createTextNode(node);
    const [name, ...rest] = node;
    const drawn = name === "svg" || name === "use";
    const made = drawn ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
    for (const part of rest) {
      if (typeof part === "string" || Array.isArray(part)) made.append(element(part));
      else for (const [attribute, value] of Object.entries(part)) made.setAttribute(attribute, value);
    }
    return made;
  };
  const treesOf = async (part) => unpack(part.closest(".flow").querySelector(".packed"));
  const refuse = (place, problem) => {
    const told = document.createElement("p");
    told.className = "error";
    told.textContent = `This browser cannot unpack the evidence (${problem}): results.json has values and attempts ` +
      "of every check by its id, journal.jsonl every command and answer.";
    place.append(told);
  };
  // A list has an entry for each check of its flow once somebody opens it, and an entry its evidence likewise.
  const fillList = async (list) => {
    try {
      for (const [id, [summary]] of Object.entries(await treesOf(list))) {
        const check = document.createElement("details");
        check.className = "check";
        check.dataset.check = id;
        check.hidden = document.getElementById(id).classList.contains("off");
        check.append(element(summary));
        list.append(check);
      }
    } catch (problem) { refuse(list, problem); }
  };
  const fill = async (place, check, then = () => {}) => {
    try {
      const [summary, ...evidence] = (await treesOf(check))[check.dataset.check];
      place.append(...evidence.map(element));
      then(element(summary));
    } catch (problem) { refuse(place, problem); }
  };
  document.addEventListener("toggle", (event) => {
    const part = event.target;
    if (!part.open || part.classList.contains("filled") || !part.matches(".list, .check")) return;
    part.classList.add("filled");
    if (part.matches(".list")) fillList(part);
    else {
      const evidence = document.createElement("div");
      evidence.className = "evidence";
      part.append(evidence);
      fill(evidence, part);
    }
  }, true);

  // --- filters: a check is shown when every filter that is set holds
  const form = document.querySelector(".filters");
  if (!form) return;
  const checks = all(".chip");
  const tiles = all(".tile");
  const words = new Map(checks.map((chip) => [chip.id, `${chip.id}\n${chip.textContent}\n${chip.title}`.toLowerCase()]));
  const texts = (node) => {
    if (typeof node === "string") return node;
    return Array.isArray(node) ? node.slice(1).map(texts).join("\n") : "";
  };
  let searched = null;
  const searchEvidence = () => {
    searched ??= Promise.all(all(".packed").map(async (block) => {
      for (const [id, tree] of Object.entries(await unpack(block))) {
        words.set(id, `${words.get(id)}\n${tree.map(texts).join("\n").toLowerCase()}`);
      }
    })).then(() => apply(), () => {});
  };
  const matches = (item, wanted) =>
    (!wanted.verdict || item.dataset.verdict === wanted.verdict) &&
    (!wanted.flow || item.dataset.flow === wanted.flow) &&
    (!wanted.os || item.dataset.os.split(" ").includes(wanted.os)) &&
    wanted.text.every((word) => words.get(item.id).includes(word));

  const apply = () => {
    const wanted = {
      verdict: form.verdict.value,
      flow: form.flow.value,
      os: form.os.value,
      text: form.text.value.toLowerCase().split(/\s+/).filter(Boolean),
    };
    if (wanted.text.length) searchEvidence();
    const filtered = Boolean(wanted.verdict || wanted.flow || wanted.os || wanted.text.length);
    let found = 0;
    for (const check of checks) found += check.classList.toggle("off", !matches(check, wanted)) ? 0 : 1;
    for (const check of all("details.check")) {
      check.hidden = document.getElementById(check.dataset.check).classList.contains("off");
    }
    const skipsShown = !wanted.os && !wanted.text.length && (!wanted.verdict || wanted.verdict === "skipped");
    for (const skip of all(".skips")) {
      skip.hidden = !skipsShown || (wanted.flow && !skip.dataset.flow.split(" ").includes(wanted.flow));
    }
    for (const flow of all(".flow")) flow.hidden = !flow.querySelector(".chip:not(.off), .skips:not([hidden])");
    let suites = 0;
    for (const suite of all("section.of-suite")) {
      suite.hidden = !suite.querySelector(".flow:not([hidden]), .skips:not([hidden])");
      suites += suite.hidden ? 0 : 1;
    }
    for (const tile of tiles) {
      tile.setAttribute("aria-pressed", String(tile.dataset.verdict === wanted.verdict));
    }
    document.querySelector(".nothing").hidden = suites > 0;
    form.found.value = filtered ? `${found} of ${checks.length} shown` : "";
  };
  form.addEventListener("input", apply);
  const listFlows = () => {
    if (form.flow.length > 1) return;
    const flows = all(".flow, .skips").flatMap((part) => part.dataset.flow.split(" "));
    form.flow.append(...[...new Set(flows)].map((flow) => new Option(flow)));
  };
  for (const event of ["pointerdown", "focus"]) form.flow.addEventListener(event, listFlows);
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, select, textarea")) return;
    event.preventDefault();
    form.text.focus();
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(apply));
  for (const tile of tiles) {
    tile.addEventListener("click", () => {
      const verdict = tile.dataset.verdict;
      form.verdict.value = form.verdict.value === verdict ? "" : verdict;
      apply();
      if (form.verdict.value) document.getElementById("s-flows").scrollIntoView();
    });
  }

  // --- drawer: the same evidence as below each matrix, beside it
  const drawer = document.getElementById("drawer");
  const body = drawer.querySelector(".body");
  const title = document.getElementById("drawer-title");
  let current = null;
  const show = (id, member) => {
    const check = document.getElementById(id);
    if (!check?.matches(".chip")) return false;
    current = check;
    const copy = document.createElement("div");
    copy.className = "evidence";
    body.replaceChildren(copy);
    title.textContent = check.textContent;
    fill(copy, check, (summary) => {
      if (current !== check) return;
      title.replaceChildren(...summary.childNodes);
      const one = member && all(".member", copy).find((each) => each.querySelector("bdi").textContent === member);
      if (!one) return;
      one.open = true;
      one.scrollIntoView();
    });
    if (!drawer.open) drawer.showModal();
    drawer.scrollTop = 0;
    history.replaceState(null, "", `#${id}`);
    return true;
  };
  const step = (by) => {
    const shown = checks.filter((check) => !check.classList.contains("off") || check === current);
    const next = shown[shown.indexOf(current) + by];
    if (next) show(next.id);
  };
  toPair = async (figure, pair) => {
    const of = (tree) => tree.some(([name, , [, , , label] = []]) => name === "details" && label?.[1] === pair);
    const check = Object.entries(await treesOf(figure)).find(([, tree]) => of(tree));
    if (check) show(check[0], pair);
  };
  for (const link of all("a[data-check]")) {
    link.addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
      if (show(link.dataset.check, link.dataset.member)) event.preventDefault();
    });
  }
  drawer.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (button?.dataset.step) step(Number(button.dataset.step));
    else if (button || event.target === drawer || event.target.closest('a[href^="#"]')) drawer.close();
  });
  drawer.addEventListener("keydown", (event) => {
    if (event.key === "ArrowRight") step(1);
    if (event.key === "ArrowLeft") step(-1);
  });
  if (location.hash) show(decodeURIComponent(location.hash.slice(1)));
})();
