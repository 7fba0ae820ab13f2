// Warnings about likely mistakes: their position, a suggestion, and a policy that can still be saved.
import { describe, expect, test } from 'bun:test'
import { BUILT_IN_CHAINS } from '../../src/domain/chain.ts'
import { compileSource, sourceSteps } from '../../src/policy/cel/compile.ts'

import { PolicyInvalidError } from '../../src/policy/issues.ts'
import { draftRevision } from '../../src/policy/revision.ts'
import { readTemplates } from '../../src/policy/tools/templates.ts'
import { issuesOf, thrownBy } from './support.ts'

const chains = new Set(BUILT_IN_CHAINS.map(({ name }) => name))
const documentOf = (...rules: string[]): string =>
  `name: W\nrules:\n${rules.map((rule, index) => `  - id: r${index}\n    ${rule}\n`).join('')}`
const warn = (...rules: string[]): string[] =>
  compileSource(documentOf(...rules), { chains }).warnings.map(
    ({ line, column, message, pointer }) => `${line}:${column} ${pointer} ${message}`,
  )
/** Warnings about one expression: the column in the expression, counted from 0, and the message. */
const warnOf = (expression: string): [number, string][] => {
  const { warnings } = compileSource(documentOf(`deny: '${expression}'`), { chains })
  return warnings.map(({ column, message }) => [column - "    deny: '".length - 1, message])
}

test('a fact in UTC next to a time zone', () => {
  const zoned = 'request.time.getDayOfWeek("Europe/Zurich") == 1'
  const message = 'request.hour is in UTC, but the rule also reads a time zone'
  expect(warnOf(`request.hour > 9 && ${zoned}`)).toEqual([[expect.any(Number), message]])
  for (const expression of [zoned, 'request.hour > 9 && request.time.getDayOfWeek() == 1', 'request.hour > 9'])
    expect(warnOf(expression)).toEqual([])
})

test('a value that a time component never has', () => {
  const zoned = (method: string) => `request.time.${method}("Europe/Zurich")`
  const months = 'getMonth is never 12: it is 0 (January) to 11 (December)'
  expect(warnOf(`${zoned('getMonth')} == 12`)).toEqual([[42, months]])
  expect(warnOf(`!(${zoned('getMonth')} in [0, 12])`).map(([, message]) => message)).toEqual([months])
  expect(warnOf(`7 == ${zoned('getDayOfWeek')}`)[0]?.[1]).toContain('0 (Sunday) to 6 (Saturday)')
  for (const hour of [zoned('getHours'), 'request.time.getHours()', 'request.hour']) {
    expect(warnOf(`${hour} > 24`)[0]?.[1]).toEndWith('is never 24: it is 0 to 23')
    expect(warnOf(`${hour} >= 23 || ${hour} == 0`)).toEqual([])
  }
  expect(warnOf(`${zoned('getDate')} == 0`)[0]?.[1]).toBe('getDate is never 0: it is 1 to 31')
  expect(warnOf('duration("48h").getHours() > 24')).toEqual([])
})

describe('an unknown chain', () => {
  const ethereum = (name: string) => `unknown chain "${name}": did you mean "ethereum"?`
  const bas = 'unknown chain "bas": did you mean "base"?'
  const sepolia: [number, string] = [30, 'unknown chain "sepolai": did you mean "sepolia"?']
  test.each<[string, [number, string][]]>([
    ['chain.name == "etherium"', [[14, ethereum('etherium')]]],
    ['"etherium" != chain.name', [[0, ethereum('etherium')]]],
    ['chain.name in ["bas", "base", "sepolai"]', [[15, bas], sepolia]],
    ['chain.name == "ethereum-mainnet"', [[14, ethereum('ethereum-mainnet')]]],
    ['chain.name == "tezos-ghost"', [[14, `unknown chain "tezos-ghost"; known chains: ${[...chains].join(', ')}`]]],
    ['!(chain.name == "ethereum" || chain.name in ["base", "solana"])', []],
    ['chain.family == "evm" && chain.id == 1', []],
    ['tx.selector == "0x12345678"', []],
  ])('%s', (expression, expected) => expect(warnOf(expression)).toEqual(expected))

  test('of a constant is reported at the comparison', () => {
    const source = `constants: { where: { type: string, value: ["bas"] } }\n${documentOf('deny: chain.name in constants.where')}`
    expect(compileSource(source, { chains }).warnings).toMatchObject([{ line: 5, message: bas }])
  })

  test('is not a chain of the deployment', () => {
    const source = documentOf('deny: chain.name == "mine"')
    expect(compileSource(source, { chains: new Set([...chains, 'mine']) }).warnings).toEqual([])
    expect(compileSource(source, { chains }).warnings).toHaveLength(1)
  })
})

describe('an amount in whole tokens', () => {
  const ten = 'this is 10 wei (or lamports): did you mean ether(10) or sol(10)?'
  test.each<[string, [number, string][]]>([
    ['tx.value > 10', [[11, ten]]],
    ['10 <= tx.value', [[0, ten]]],
    ['velocity.value(days(1)) >= 10', [[27, ten]]],
    ['velocity.value(days(1)) + tx.value > 10', [[37, ten]]],
    ['tx.value > 0', []],
    ['tx.value > ether(10)', []],
    ['tx.value > lamports(10)', []],
    ['tx.value > uint256("10")', []],
    ['tx.value > 1000001', []],
    ['velocity.count(days(1)) > 10', []],
    ['tx.data_size > 10', []],
  ])('%s', (expression, expected) => expect(warnOf(expression)).toEqual(expected))
})

describe('an unreachable rule', () => {
  const message = (verdict: string): string =>
    `this rule and all later rules are unreachable: "r0" always ${verdict}. Move "r0" to the end`

  test.each<[string, string[], string[]]>([
    ['allow: "true"', ['deny: tx.value > ether(1)', 'deny: "false"'], [`6:11 /rules/1/deny ${message('allows')}`]],
    ['deny: "true"', ['allow: "true"'], [`6:13 /rules/1/allow ${message('denies')}`]],
    ['require: "false"', ['allow: "true"'], [`6:13 /rules/1/allow ${message('denies')}`]],
    ['allow: "false"', ['deny: "false"', 'require: "true"', 'allow: "true"'], []],
  ])('after %s is reported once, at the first', (first, others, expected) =>
    expect(warn(first, ...others)).toEqual(expected),
  )
})

describe('an argument that some calls lack', () => {
  const ABI = [
    'function transfer(address to, uint256 amount)',
    'function approve(address spender, uint256 amount)',
    'function burn(uint256 amount)',
  ]
  const abiOf = (functions: readonly string[]): string => `abi:\n${functions.map((one) => `  - ${one}\n`).join('')}`
  const messagesOf = (rules: readonly string[], functions: readonly string[] = ABI): string[] =>
    compileSource(documentOf(...rules) + abiOf(functions), { chains }).warnings.map(({ message }) => message)
  const to = (without: string, fix: string, id = 'r0'): string =>
    `rule "${id}" fails for calls without the argument "to" (${without}): write ${fix}`
  const others = 'approve(address,uint256), burn(uint256)'
  const decoded = 'require: call.decoded'
  const isTransfer = 'call.function == "transfer"'
  const reads = 'in_list(call.args.to, "sanctions")'

  test('is reported with the rule, the functions without it, and the guard', () => {
    const [warning] = warn(`deny: '${reads}'\n${abiOf(ABI).trimEnd()}`)
    expect(warning).toBe(`4:30 /rules/0/deny ${to(`${others}, undecoded data`, `${isTransfer} && …`)}`)
  })

  const overloaded = ['function send(address to)', 'function send(uint256 amount)', 'function sendAll(address to)']
  const signatures = 'call.signature in ["send(address)", "sendAll(address)"]'
  const seven = [0, 1, 2, 3, 4, 5, 6]
  const withoutTo = [ABI[0]!, ...seven.map((index) => `function f${index}()`)]
  const withTo = [...seven.map((index) => `function f${index}(address to)`), 'function burn()']
  const shown = 'f0(), f1(), f2(), f3(), f4(), 2 other functions'
  const guard = 'call.function in ["f0", "f1", "f2", "f3", "f4", …]'
  const amount = 'rule "r0" fails for calls without the argument "amount" (undecoded data): write call.decoded && …'
  test.each<[string, string[], string[], string]>([
    ['a negated condition', [decoded, `require: '!${reads}'`], ABI, to(others, `!(${isTransfer}) || …`, 'r1')],
    ['an argument of all functions', ['deny: call.args.amount > 5'], ABI, amount],
    [
      'signatures of an overload',
      [decoded, `deny: '${reads}'`],
      overloaded,
      to('send(uint256)', `${signatures} && …`, 'r1'),
    ],
    ['five functions without it', [decoded, `deny: '${reads}'`], withoutTo, to(shown, `${isTransfer} && …`, 'r1')],
    ['five functions with it', [`deny: 'call.decoded && ${reads}'`], withTo, to('burn()', `${guard} && …`)],
  ])('is reported with %s', (_, rules, functions, message) => expect(messagesOf(rules, functions)).toEqual([message]))

  test('is detected in a separate step', () => {
    const functions = Array.from({ length: 40 }, (_, index) => `function f${index}(uint256 a${index})`)
    const sum = functions.map((_, index) => `call.args.a${index}`).join(' + ')
    const countOf = (condition: string): number =>
      [...sourceSteps(documentOf(`deny: '${condition}'`) + abiOf(functions), { chains })].length
    expect(countOf(`${sum} > 0`) - countOf('true')).toBeGreaterThanOrEqual(40)
  })

  test.each([
    ['a guard', [`deny: '${isTransfer} && ${reads}'`]],
    ['a guard after the argument', [`deny: '${reads} && "transfer" == call.function'`]],
    ['a guard of an alternative', [`deny: 'call.function != "transfer" || ${reads}'`]],
    ['a negated guard', [`deny: '!(call.function in ["approve", "burn", ""]) && ${reads}'`]],
    ['a conditional', [`deny: '${isTransfer} ? ${reads} : tx.value > ether(1)'`]],
    ['the signature', [`deny: 'call.signature == "transfer(address,uint256)" && ${reads}'`]],
    ['the selector', [decoded, `deny: 'tx.selector == "0xa9059cbb" && ${reads}'`]],
    ['a guard around a loop', [`deny: '[1].exists(x, ${isTransfer} && ${reads})'`]],
    ['an earlier require', [`require: '${isTransfer}'`, `deny: '${reads}'`]],
    ['an earlier deny', [`deny: 'call.function != "transfer"'`, `deny: '${reads}'`]],
    ['earlier rules together', [decoded, `allow: 'call.function in ["approve", "burn"]'`, `deny: '${reads}'`]],
    ['an unreachable rule', ['deny: "true"', `allow: '${reads}'`]],
  ])('is not reported after %s', (_, rules) => {
    expect(messagesOf(rules).filter((message) => message.includes('argument'))).toEqual([])
  })

  test.each([
    ['a guard in an alternative', `${isTransfer} || ${reads}`],
    ['a guard for another function', `call.function != "burn" && ${reads}`],
    ['a condition on another fact', `tx.value > ether(1) && ${reads}`],
    ['a selector that undecoded data can have', `tx.selector == "0xa9059cbb" && ${reads}`],
  ])('is reported despite %s', (_, expression) => expect(messagesOf([`deny: '${expression}'`])).toHaveLength(1))
})

describe('warnings', () => {
  test('are in reading order, and the document is valid', () => {
    const source = documentOf('allow: "true"', 'deny: tx.value > 10 && chain.name == "bas"')
    const { warnings, compiled } = draftRevision(source, { chains })
    expect(warnings.map(({ column }) => column)).toEqual([11, 22, 42])
    expect(compiled.document.rules).toHaveLength(2)
  })

  test('are reported for a document whose tests fail', () => {
    const source = `${documentOf('deny: chain.name == "etherium"', 'allow: "true"')}tests:
  - { name: t, request: { from: "0x00000000000000000000000000000000000000b2", chain: ethereum }, verdict: deny }
`
    const error = thrownBy(() => draftRevision(source, { chains })) as PolicyInvalidError
    expect(error).toBeInstanceOf(PolicyInvalidError)
    expect(error.warnings).toHaveLength(1)
  })

  test('are reported for a document that was compiled before', () => {
    const source = documentOf('deny: tx.value > 11')
    compileSource(source)
    expect(compileSource(source, { chains }).warnings).toHaveLength(1)
  })

  test.each(readTemplates())('are absent in template $name', ({ source }) =>
    expect(compileSource(source, { chains }).warnings).toEqual([]),
  )
})

describe('a mistake is reported with a suggestion', () => {
  const BALANCE = 'reads.balance, with reads: { balance: { kind: native-balance } } in the document?'
  const ADDRESS = 'write addresses as address("…")'
  test.each([
    ['tx.value = ether(1)', 'write == instead of ='],
    ['chain.name == "base" and tx.value > ether(1)', 'write && instead of and'],
    ['identity.verified AND onBehalf.present', 'write && instead of AND'],
    ['tx.value > ether(5) or identity.verified', 'write || instead of or'],
    ['not in_list(wallet.address, "x")', 'write ! instead of not'],
    ['onBehalf.present && not identity.verified', 'write ! instead of not'],
    ['lists.has(wallet.address)', '"lists": did you mean in_list(wallet.address, "name")?'],
    ['inlist(wallet.address, "x")', 'did you mean in_list?'],
    ['walet.address == target.address', '"walet": did you mean wallet?'],
    ['tx.value > 10 ether', 'write ether(10) instead of 10 ether'],
    ['tx.value > 1.5ether || chain.id == 1', 'write ether("1.5") instead of 1.5ether'],
    ['velocity.count(24h) > 3', 'write hours(24) instead of 24h'],
    ['tx.value > ether(1) && chain.id == 1 and true', 'write && instead of and'],
    ['tx.to == wallet.address', 'tx has no field "to": did you mean target.address?'],
    ['tx.from == wallet.address', 'tx has no field "from": did you mean wallet.address?'],
    ['balance > 5', BALANCE],
    ['wallet.balance > 5', BALANCE],
    ['wallet.address == "0x00000000000000000000000000000000000000e1"', ADDRESS],
    ['wallet.address in ["0x00000000000000000000000000000000000000e1"]', ADDRESS],
  ])('%s', (expression, hint) => {
    const issues = issuesOf(() => compileSource(documentOf(`deny: '${expression}'`)))
    expect(issues).toEqual([
      expect.objectContaining({ message: expect.stringMatching(RegExp(`${RegExp.escape(hint)}$`)) }),
    ])
  })
})
