// The policy language: what decides, what it costs, how calls are decoded, and which revision is used.
import { type Place, placesOf } from '../place.ts'

export const policy: readonly Place[] = [
  ...placesOf(['test/policy/rules.test.ts'], 'src/policy/evaluate.ts', [
    ['a deny rule that does not hold decides', "decisive: kind === 'deny'", "decisive: kind !== 'deny'"],
    ['the default is to allow', "compliant: fallback === 'allow'", "compliant: fallback !== 'allow'"],
    ['a rule that fails decides nothing', '        throw new PolicyEvaluationError(id, error)', '        continue'],
  ]),
  ...placesOf(['test/policy/on-behalf.test.ts', 'test/workers/decide.test.ts'], 'src/policy/list-verdict.ts', [
    [
      'an allowed relayer carries anyone',
      'return lists.contains(ALLOW_LIST, wallet) && lists.contains(ALLOW_LIST, onBehalf) ? ALLOWED : null',
      'return lists.contains(ALLOW_LIST, wallet) ? ALLOWED : null',
    ],
    ['a denied user behind a relayer passes', 'if (lists.contains(DENY_LIST, onBehalf)) return DENIED', ''],
    [
      'an allow entry beats a deny entry',
      'if (lists.contains(DENY_LIST, wallet)) return DENIED\n',
      'if (lists.contains(DENY_LIST, wallet) && !lists.contains(ALLOW_LIST, wallet)) return DENIED\n',
    ],
  ]),
  ...placesOf(
    ['test/policy/cost.test.ts', 'test/policy/language.test.ts', 'test/policy/uint256.test.ts'],
    'src/policy/cel/cost.ts',
    [
      [
        'a loop costs one turn',
        'target.steps + CALL_STEPS + target.elements * steps',
        'target.steps + CALL_STEPS + steps',
      ],
      [
        'joining texts is free',
        "node.op === '+' && (type === 'string' || leftNode.checkedType?.kind === 'list')",
        "node.op === '+' && type === 'none'",
      ],
      ['searching one text in another is linear', "name === 'contains' ? chars * (1 + otherChars) : chars", 'chars'],
      [
        'a negative literal is compared with a uint256',
        "if (isNegativeLiteral(side)) this.refuse(side, 'a uint256 is never negative')",
        '',
      ],
    ],
  ),
  ...placesOf(['test/policy/uint256.test.ts'], 'src/policy/calls/uint256.ts', [
    ['a negative int is an operand', 'if (operand < 0n) throw NEGATIVE_OPERAND', ''],
    [
      'an equal value is less',
      "'<': (left, right) => bigintOf(left) < bigintOf(right)",
      "'<': (left, right) => bigintOf(left) <= bigintOf(right)",
    ],
  ]),
  ...placesOf(['test/policy/abi-codec.test.ts'], 'src/policy/calls/abi-codec.ts', [
    [
      'dirty bytes before an address are taken',
      'if (at + WORD > this.#text.length || !this.#text.startsWith(ZEROS.slice(0, zeros), at)) throw MALFORMED',
      'if (at + WORD > this.#text.length) throw MALFORMED',
    ],
    ['a boolean of 2 is false', "if (digit !== '0' && digit !== '1') throw MALFORMED", ''],
    ['dirty bytes behind a bytesN are taken', 'if (!word.endsWith(ZEROS.slice(digits))) throw MALFORMED', ''],
    [
      'an int8 of 128 is taken',
      'if (value > maximum || value < -maximum - 1n) throw MALFORMED',
      'if (value > maximum + 1n || value < -maximum - 1n) throw MALFORMED',
    ],
    [
      'offsets are counted from the wrong place',
      'codec.isDynamic ? base + 2 * reader.size(at) : at',
      'codec.isDynamic ? at + 2 * reader.size(at) : at',
    ],
    [
      'data that ends early is read',
      'if (at + WORD > this.#text.length) throw MALFORMED\n    return this.#text.slice(at, at + WORD)',
      'return this.#text.slice(at, at + WORD)',
    ],
  ]),
  ...placesOf(['test/policy/calls.test.ts'], 'src/policy/calls/borsh-codec.ts', [
    ['an option of 2 is none', 'if (byte > 1) throw MALFORMED', ''],
    [
      'numbers are read from the other end',
      'for (let i = length - 1; i >= 0; i--)',
      'for (let i = 0; i < length; i++)',
    ],
    [
      'an unknown variant is passed over',
      'if (variant === undefined) throw MALFORMED',
      "if (variant === undefined) return ''",
    ],
  ]),
  ...placesOf(['test/policy/catalog.test.ts'], 'src/policy/catalog.ts', [
    [
      'a load that overlaps a change is kept',
      'if (stamps.of(organizationId) === stamp) remember(key, { target, stamp })',
      'remember(key, { target, stamp: stamps.of(organizationId) })',
    ],
    [
      'another organization’s target is used',
      'record !== null && record.organizationId !== organizationId',
      'record === undefined',
    ],
    ['a target from before a change is used', 'if (entry?.stamp === stamp) {', 'if (entry !== undefined) {'],
    [
      'a shadow’s failure refuses the caller',
      "if (shadow === null || 'failure' in shadow) {",
      "if (shadow !== null && 'failure' in shadow) throw shadow.failure\n  if (shadow === null) {",
    ],
  ]),
  ...placesOf(
    ['test/policy/revision.test.ts', 'test/policy/document-parts.test.ts', 'test/policy/document.test.ts'],
    'src/policy/revision.ts',
    [
      [
        'a text that was changed in the store is used',
        'if (contentHashOf(source) !== contentHash) {',
        "if (contentHash === '') {",
      ],
      [
        'a saved revision stops deciding when a test of it becomes a mistake',
        'return yield* savedSteps(source)',
        'return (yield* sourceSteps(source)).policy',
      ],
      [
        'a policy is saved though its own tests fail',
        'if (failed.length > 0) throw new PolicyInvalidError(source, failed, warnings)',
        '',
      ],
    ],
  ),
  ...placesOf(
    ['test/policy/rules.test.ts', 'test/policy/sources.test.ts', 'test/policy/on-behalf.test.ts'],
    'src/policy/facts.ts',
    [
      ['the weekday is one day late', '/ SECONDS_PER_DAY) + 4) % 7', '/ SECONDS_PER_DAY) + 5) % 7'],
      [
        'the represented user is the wallet',
        'read: (evaluation): AddressValue => evaluation.represented',
        'read: (evaluation): AddressValue => evaluation.wallet',
      ],
      ['data of three bytes has a selector', "data.length < 10 ? ''", "data.length < 8 ? ''"],
    ],
  ),
  ...placesOf(['test/workers/policies.test.ts'], 'workers/signing/policies.ts', [
    [
      'a job is decided without its shadow',
      'if (shadow === undefined) return undefined',
      'if (shadow === undefined) return { target, policy: programOf(held), shadow: null }',
    ],
  ]),
]
