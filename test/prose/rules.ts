// Constructions that the style of CONTRIBUTING.md rules out and that a pattern can find.

export interface ProseRule {
  readonly pattern: RegExp
  /** What to write instead. */
  readonly advice: string
}

export const PROSE_RULES: readonly ProseRule[] = [
  { pattern: /\b(?:whoever|whomever)\b/i, advice: 'name the person: "the caller", "the reviewer"' },
  {
    pattern:
      /(?:^|[.:;] )(?:What|Of|Which) (?!is |are |does |do |happens|if |to |every |course|kind|version|one of)(?=[a-z])/,
    advice: 'start with the noun or the verb',
  },
  {
    pattern: /\b(?:tells?|told|says?|knows?|hears?|asks?|asked|sees?) (?:of|who|what|whom|how)\b/i,
    advice: 'software reports, notifies, returns, logs or requests',
  },
  {
    pattern: /(?<!\bthere )\b(?:is|are|was) (?:no|none)\b(?! (?:longer|more than|fewer|less))/i,
    advice: '"isn’t a"',
  },
  { pattern: /\banew\b/i, advice: '"again"' },
  { pattern: /\bto be had\b/i, advice: '"available"' },
  { pattern: /\bcan not\b/i, advice: '"cannot"' },
  { pattern: /\bbeside\b/i, advice: '"next to", "in addition to"' },
  { pattern: /\bthe ones? (?:that|which|who|of|with|in|from)\b/i, advice: 'repeat the noun' },
  { pattern: /\b(?:those|that) of (?:the|a|an|its|this|each)\b/i, advice: 'repeat the noun' },
  {
    pattern:
      /\bin (?:its|their) stead\b|\bon their own account\b|\ball the same\b|\bas (?:any|every) other\b|\bor no longer\b/i,
    advice: 'complete the clause',
  },
  {
    pattern:
      /\bgets? to know\b|\blooked? after\b|\bhand(?:s|ed)? in\b|\bgoes by\b|\bstands? (?:in|for|at|there)\b|\bbears?\b/i,
    advice: 'use the standard term',
  },
  { pattern: /\bwhere (?:there (?:is|are)|it is|they are|none|one is)\b/i, advice: 'conditions use "if" or "when"' },
]
