// Evaluates policies until the thread has optimized the evaluator; until then, expensive policies take much longer.
import type { EvmAddress } from '../domain/address.ts'
import type { AttestationRequest } from '../domain/attestation.ts'
import { finish } from './cel/steps.ts'
import { compileDocument } from './document/compile-document.ts'
import { GEOGRAPHY } from './sources/geography.ts'
import type { PolicyDocument, PolicyRule } from './types/document.ts'
import type { EvaluationFacts, ListReader } from './types/facts.ts'
import type { AbiFunctionItem } from './types/reads.ts'

const functionOf = (name: string, inputs: AbiFunctionItem['inputs']): AbiFunctionItem => ({
  type: 'function',
  name,
  stateMutability: 'nonpayable',
  inputs,
  outputs: [],
})

/** Base of all warm-up policies; parsed, because workers don't read YAML. */
export const WARM_UP: PolicyDocument = {
  name: 'Warm-up',
  description: '',
  decides: 'requests',
  default: 'deny',
  quorum: 1,
  constants: [
    {
      name: 'some',
      type: 'address',
      values: [`0x${'a1'.padStart(40, '0')}`, `0x${'a2'.padStart(40, '0')}`],
      isList: true,
    },
  ],
  abi: [
    functionOf('transfer', [
      { name: 'to', type: 'address' },
      { name: 'amount', type: 'uint256' },
    ]),
    functionOf('many', [
      { name: 'accounts', type: 'address[]' },
      { name: 'amounts', type: 'uint256[]' },
      { name: 'matrix', type: 'uint256[][]' },
      { name: 'text', type: 'string' },
      {
        name: 'orders',
        type: 'tuple[]',
        components: [
          { name: 'flag', type: 'bool' },
          { name: 'delta', type: 'int64' },
        ],
      },
    ]),
  ],
  idl: null,
  reads: [],
  rules: [],
  tests: [],
}

/** One policy per condition, because of the cost limit. None is true, so each is evaluated completely. */
const CONDITIONS: readonly string[] = [
  `[1, 2, 3, 4, 5, 6, 7, 8, 9, 10].exists(x, tx.selector == "0x00000000" || x == 99 || -x == 7 || x in [500, 501]) ||
    [1, 2, 3, 4, 5].filter(x, x != 500).map(x, x + 1).size() == 1 || [1, 2, 3].exists_one(x, x == 9) ||
    [1, 2, 3].all(x, x == 2) || [chain.id, chain.id, 5].size() == 1 || [chain.id, 7] == [7, 7]`,
  `wallet.address == target.address || wallet.address in [target.address] || wallet.address in constants.some ||
    constants.some.exists(a, a == wallet.address || in_list(a, "none") || in_list(a, "none", days(1)))`,
  `tx.value > ether(1) || tx.value == ether(2) || tx.value <= 5 || tx.value in [uint256("1"), ether(3)] ||
    (tx.value + uint256("1")) % uint256("7") == uint256("8") || tx.value * uint256("3") - uint256("1") == tx.value / 2 ||
    chain.id == 7 || chain.id + 1 > 5 || chain.id * 2 == 9 || tx.data_size < 3 || tx.data_size % 2 == 3 ||
    velocity.count(hours(1)) > 9 || velocity.value(hours(1)) > ether(1)`,
  `chain.name == "base" || chain.name in ["a", "b"] || chain.name.startsWith("b") || chain.name.endsWith("b") ||
    chain.name.contains("zz") || size(chain.name) == 1 || chain.name.size() == 2 || client.country != "US" ||
    screener("any").categories.exists(c, c.contains("d") || c == "e") || screener("any").flagged ||
    ["aaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbb"].exists(t, size(t) == 5 || t.contains("cc"))`,
  `request.time < timestamp("2020-01-01T00:00:00Z") || request.time + hours(1) < request.time - hours(2) ||
    request.time_of_day.getHours() == 25 || request.time.getFullYear() == 1 || request.hour == 24 ||
    request.time in [timestamp("2020-01-01T00:00:00Z"), timestamp("2021-01-01T00:00:00Z")] ||
    request.weekday == "sunday" || request.time.getHours("UTC") == 25`,
  '(chain.id == 7 ? true : chain.id == 8) && (true && true && true && (false || false || false))',
  'call.function == "many" && call.args.accounts.exists(a, a == target.address || in_list(a, "none"))',
  `call.function == "many" && (call.args.amounts.exists(a, a > 5000) || call.args.matrix.exists(m, m.size() == 7) ||
    call.args.matrix[0][0] == 7 || call.args.orders.exists(o, o.flag || o.delta == 7))`,
  'call.function == "many" && (call.args.text.contains("b") || size(call.args.text) + call.args.text.size() == 1)',
  'call.function == "transfer" && call.args.amount > 5 && call.args.to == wallet.address',
  // Each part fails; `&& false` overrides the failure.
  '[1, 2].exists(x, 1 / (x - x) > 0 || client.tor || tx.value - ether(9) > x) && false',
  'call.function == "many" && call.args.amounts.exists(a, a - ether(9) > 5) && false',
  'call.function == "many" && call.args.amounts.map(a, a + 1).size() == 1',
]

const word = (value: number): string => value.toString(16).padStart(64, '0')
const array = (members: readonly string[]): string => word(members.length) + members.join('')

const manyCall = (): string => {
  const twenty = Array.from({ length: 20 }, (_, index) => word(index + 100))
  // Eight references to the same array.
  const matrix = array(Array<string>(8).fill(word(8 * 32))) + array(twenty)
  const text = word(512) + '61'.repeat(512)
  const orders = array(['', '', ''].map(() => word(0) + word(3)))
  const tails = [array(twenty), array(twenty), matrix, text, orders]
  let offset = tails.length * 32
  const heads = tails.map((tail) => {
    const head = word(offset)
    offset += tail.length / 2
    return head
  })
  return `0x796058f9${heads.join('')}${tails.join('')}`
}

const LISTS: ListReader = { contains: () => false, ageSeconds: () => 0 }

const REQUEST: AttestationRequest = {
  chain: { name: 'ethereum', family: 'evm', chainId: 1 },
  from: `0x${'11'.repeat(20)}` as EvmAddress,
  onBehalf: '',
  to: `0x${'22'.repeat(20)}` as EvmAddress,
  value: '6',
  data: manyCall(),
  userIp: '192.0.2.1',
  nowSeconds: 1_800_000_000,
}

export const WARM_UP_FACTS = {
  request: REQUEST,
  lists: LISTS,
  external: {
    geography: GEOGRAPHY.example,
    screeners: { any: { flagged: false, score: 1, categories: ['a', 'b', 'c'] } },
    velocity: { '3600': { count: 1, value: '1' } },
  },
} satisfies EvaluationFacts

const TRANSFER = `0xa9059cbb${'33'.repeat(20).padStart(64, '0')}${'6'.padStart(64, '0')}`

const EVALUATIONS = 250

/** Takes about 100 ms on an idle machine, at most `limitMs` plus one evaluation. @throws PolicyEvaluationError */
export const warmUpPolicies = (nowMs: () => number, limitMs = 500): void => {
  const endMs = nowMs() + limitMs
  const policies = CONDITIONS.map((expression) => {
    const rule: PolicyRule = { id: 'warm-up', kind: 'deny', expression, code: null, message: null }
    return finish(compileDocument({ ...WARM_UP, rules: [rule] }))
  })
  const requests = [WARM_UP_FACTS, { ...WARM_UP_FACTS, request: { ...REQUEST, data: TRANSFER } }]
  for (let i = 0; i < EVALUATIONS; i++) {
    for (const { evaluate } of policies) {
      for (const request of requests) {
        if (nowMs() >= endMs) return
        evaluate(request)
      }
    }
  }
}
