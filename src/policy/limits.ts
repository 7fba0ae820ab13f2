// How large a policy may be, so that a hostile one can neither stall a save nor hold a worker (threats row 13). Whatever
// is refused here is refused when the policy is saved; nothing is cut short during an evaluation.

export const POLICY_LIMITS = {
  /** UTF-8 bytes of the document. */
  sourceBytes: 256 * 1024,
  /** Lexical tokens of the YAML: parsing costs grow with these, not with the bytes. */
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
  /** Functions of an abi and instructions of an idl; their parameters and components in all; nesting of their types. */
  functions: 512,
  parameters: 4096,
  abiDepth: 8,
  /** Different lists, screeners and velocity windows that one policy may ask for. */
  lists: 16,
  screeners: 4,
  velocityWindows: 8,

  /** UTF-16 code units of one expression. */
  expressionLength: 8192,
  /** Syntax tree nodes of one expression, and of all of a policy. */
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

  /** Elements of an argument's array and characters of an argument's text that a rule may read; a longer one fails it. */
  decodedElements: 256,
  decodedChars: 8192,
  /** Values that are decoded of one call; data with more is not decoded. */
  decodedValues: 4096,
} as const
