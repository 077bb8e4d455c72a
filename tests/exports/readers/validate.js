// Checks documents against JSON Schemas with Ajv: validate.js SCHEMA DOCUMENT [DOCUMENT…]. Prints a line per document, `ok` or
// what is wrong with it. Run in the folder of node_modules.
const { readFileSync } = require("fs");
const { createRequire } = require("module");
const load = createRequire(process.cwd() + "/");
const [schemaFile, ...documents] = process.argv.slice(2);
const schema = JSON.parse(readFileSync(schemaFile, "utf8"));
const is2020 = String(schema.$schema).includes("2020-12");
const isDraft04 = String(schema.$schema).includes("draft-04");
const Ajv = load(is2020 ? "ajv/dist/2020" : isDraft04 ? "ajv-draft-04" : "ajv").default;
// In strict mode a keyword that is misspelt, or means nothing where it stands, is an error. Not for schemas of others.
const ajv = new Ajv({
  strict: is2020, allowUnionTypes: true, strictRequired: false, allErrors: true,
  // Older schemas have patterns and formats that newer rules refuse.
  validateFormats: !isDraft04, unicodeRegExp: !isDraft04,
});
const validate = ajv.compile(schema);
for (const file of documents) {
  const good = validate(JSON.parse(readFileSync(file, "utf8")));
  console.log(good ? "ok" : ajv.errorsText(validate.errors.slice(0, 5)));
}
