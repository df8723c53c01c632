import jsxA11y from "eslint-plugin-jsx-a11y";
import tseslint from "typescript-eslint";

export default tseslint.config(
  { ignores: ["node_modules/"] },
  ...tseslint.configs.recommended,
  {
    files: ["src/**/*.{ts,tsx}"],
    ...jsxA11y.flatConfigs.strict,
    languageOptions: { parserOptions: { ecmaFeatures: { jsx: true } } },
  },
  {
    files: ["src/**/*.{ts,tsx}"],
    rules: {
      // Names in a trace are hostile text: they get into the page as text only.
      "no-restricted-properties": [
        "error",
        { property: "innerHTML" },
        { property: "outerHTML" },
        { property: "insertAdjacentHTML" },
      ],
      "no-restricted-syntax": ["error", "JSXAttribute[name.name='dangerouslySetInnerHTML']"],
      "no-eval": "error",
      eqeqeq: "error",
      // A drawing is an image with a name; its table has the rest.
      "jsx-a11y/no-interactive-element-to-noninteractive-role": ["error", { canvas: ["img"], tr: ["none", "presentation"] }],
    },
  },
  {
    rules: { "@typescript-eslint/no-unused-vars": ["error", { ignoreRestSiblings: true, varsIgnorePattern: "^_" }] },
  },
);
