// Evaluates a policy of every kind of operation often enough that a thread has compiled the evaluator before its first
// job: a costly policy takes several times as long in a thread that has evaluated nothing yet.
import { compilePolicy } from './compile.ts'
import type { EvaluationFacts } from './types.ts'

const POLICY = `name: Warm-up
abi:
  - function transfer(address to, uint256 amount)
rules:
  - id: loops
    deny: >-
      [1, 2, 3, 4, 5, 6, 7, 8, 9, 10].exists(x, tx.selector == "0x00000000" || client.country == "CH" || x == 99) ||
      [1, 2, 3, 4, 5].filter(x, x != 500).map(x, x + 1).size() == 1
  - id: values
    deny: >-
      wallet.address in [target.address] || tx.value > ether(1) || chain.name in ["a", "b"] ||
      request.time < timestamp("2020-01-01T00:00:00Z") || (tx.value + uint256("1")) % uint256("7") == uint256("8")
  - id: calls
    allow: call.function == "transfer" && call.args.amount > 5 && call.args.to != wallet.address
`

const FACTS: EvaluationFacts = {
  chainName: 'ethereum',
  chainFamily: 'evm',
  chainId: 1,
  from: `0x${'11'.repeat(20)}`,
  to: `0x${'22'.repeat(20)}`,
  value: '6',
  data: `0xa9059cbb${'33'.repeat(20).padStart(64, '0')}${'6'.padStart(64, '0')}`,
  userIp: '',
  nowSeconds: 1_800_000_000,
  external: {
    geography: {
      ...{ country: 'US', region: null, anonymous: null, vpn: null, proxy: null, tor: null, hosting: null },
    },
  },
}

const EVALUATIONS = 400

/** Takes no longer than `limitMs` and a single evaluation more. */
export const warmUpPolicies = (nowMs: () => number, limitMs = 40): void => {
  const endMs = nowMs() + limitMs
  const { evaluate } = compilePolicy(POLICY)
  for (let i = 0; i < EVALUATIONS && nowMs() < endMs; i++) evaluate(FACTS)
}
