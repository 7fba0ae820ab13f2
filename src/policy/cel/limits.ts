// Limits on the size of a policy, so that a hostile one can neither stall a save nor block a worker (threats row 13).
// They are enforced when the policy is saved; an evaluation is never cut short.

export const POLICY_LIMITS = {
  /** UTF-8 bytes of the document. */
  sourceBytes: 256 * 1024,
  /** Lexical tokens of the YAML: the cost of parsing grows with the tokens, not with the bytes. */
  sourceTokens: 20_000,
  /** Nested flow collections (`[` and `{`) in the YAML. */
  sourceFlowDepth: 32,
  rules: 200,
  nameLength: 128,
  descriptionLength: 4096,
  identifierLength: 64,
  codeLength: 64,
  messageLength: 512,
  quorum: 16,
  constants: 128,
  reads: 16,
  tests: 200,
  /**
   * Functions of an abi and instructions of an idl; all their parameters and components together; nesting of their
   * types.
   */
  functions: 512,
  parameters: 4096,
  abiDepth: 8,
  /** Different lists, screeners and velocity windows that one policy may ask for. */
  lists: 16,
  screeners: 4,
  velocityWindows: 8,

  /** UTF-16 code units of one expression. */
  expressionLength: 8192,
  /** Syntax tree nodes of one expression, and of all expressions of a policy. */
  expressionNodes: 1024,
  policyNodes: 8192,
  /** Nesting of one expression; a chain of n operators nests n deep. */
  expressionDepth: 256,
  /** Nesting by parentheses, brackets, calls and selections, counted by the parser. */
  bracketDepth: 32,
  listElements: 128,
  callArguments: 4,
  /** UTF-16 code units of one string literal. */
  stringLiteralLength: 256,
  /** The worst case of one evaluation of all rules, in steps (see cost.ts). */
  evaluationSteps: 20_000,

  /**
   * Elements of an array argument and characters of a text argument that a rule may read; with a longer one the rule
   * fails.
   */
  decodedElements: 256,
  decodedChars: 8192,
  /** Values decoded from one call; data with more values is not decoded. */
  decodedValues: 4096,
} as const
