// Every recommended and strict rule that knows types; what is changed has its reason beside it.
import { fileURLToPath } from "node:url";
import { dirname } from "node:path";
import tseslint from "typescript-eslint";

export default tseslint.config(
  { ignores: ["dist/", "node_modules/", "eslint.config.js"] },
  ...tseslint.configs.strictTypeChecked,
  ...tseslint.configs.stylisticTypeChecked,
  {
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: dirname(fileURLToPath(import.meta.url)) } },
    rules: {
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }], // a number reads well in a text
    },
  },
  {
    files: ["test/**"],
    rules: {
      "@typescript-eslint/no-floating-promises": "off", // the runner waits for what test() gives
    },
  },
);
