  // Begins.
  document.querySelectorAll("table.sortable").forEach(sortableTable);
