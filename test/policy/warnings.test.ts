// What is likely not meant is said where it stands, with what probably is, and keeps nothing from being saved.
import { describe, expect, test } from 'bun:test'
import { BUILT_IN_CHAINS } from '../../src/domain/chain.ts'
import { compileSource, sourceSteps } from '../../src/policy/cel/compile.ts'
import type { Steps } from '../../src/policy/cel/steps.ts'
import { PolicyInvalidError } from '../../src/policy/issues.ts'
import { draftRevision } from '../../src/policy/revision.ts'
import { readTemplates } from '../../src/policy/tools/templates.ts'

const chains = new Set(BUILT_IN_CHAINS.map(({ name }) => name))
const documentOf = (...rules: string[]): string =>
  `name: W\nrules:\n${rules.map((rule, index) => `  - id: r${index}\n    ${rule}\n`).join('')}`
const warn = (...rules: string[]): string[] =>
  compileSource(documentOf(...rules), { chains }).warnings.map(
    ({ line, column, message, pointer }) => `${line}:${column} ${pointer} ${message}`,
  )
/** Of one expression: the column within it, from 0, and the message. */
const warnOf = (expression: string): [number, string][] =>
  compileSource(documentOf(`deny: '${expression}'`), { chains }).warnings.map(({ column, message }) => [
    column - "    deny: '".length - 1,
    message,
  ])

test('a fact in UTC next to a time zone', () => {
  const zoned = 'request.time.getDayOfWeek("Europe/Zurich") == 1'
  const message = 'request.hour is in UTC, but the rule also reads a time zone'
  expect(warnOf(`request.hour > 9 && ${zoned}`)).toEqual([[expect.any(Number), message]])
  for (const expression of [zoned, 'request.hour > 9 && request.time.getDayOfWeek() == 1', 'request.hour > 9'])
    expect(warnOf(expression)).toEqual([])
})

test('a value that a part of the time never has', () => {
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

describe('a chain that there is not', () => {
  test.each<[string, [number, string][]]>([
    ['chain.name == "etherium"', [[14, 'unknown chain "etherium": did you mean "ethereum"?']]],
    ['"etherium" != chain.name', [[0, 'unknown chain "etherium": did you mean "ethereum"?']]],
    [
      'chain.name in ["bas", "base", "sepolai"]',
      [
        [15, 'unknown chain "bas": did you mean "base"?'],
        [30, 'unknown chain "sepolai": did you mean "sepolia"?'],
      ],
    ],
    ['chain.name == "ethereum-mainnet"', [[14, 'unknown chain "ethereum-mainnet": did you mean "ethereum"?']]],
    ['chain.name == "tezos-ghost"', [[14, `unknown chain "tezos-ghost"; known chains: ${[...chains].join(', ')}`]]],
    ['!(chain.name == "ethereum" || chain.name in ["base", "solana"])', []],
    ['chain.family == "evm" && chain.id == 1', []],
    ['tx.selector == "0x12345678"', []],
  ])('%s', (expression, expected) => {
    expect(warnOf(expression)).toEqual(expected)
  })

  test('a constant is warned of where it is compared', () => {
    const source = `name: W\nconstants:\n  where: { type: string, value: ["bas"] }\nrules:\n  - id: r\n    deny: chain.name in constants.where\n`
    expect(compileSource(source, { chains }).warnings).toMatchObject([
      { line: 6, message: 'unknown chain "bas": did you mean "base"?' },
    ])
  })

  test('the deployment’s own chains are known', () => {
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
  ])('%s', (expression, expected) => {
    expect(warnOf(expression)).toEqual(expected)
  })
})

describe('a rule that no request reaches', () => {
  const message = (id: string, verdict: string): string =>
    `this rule and all later rules are unreachable: "${id}" always ${verdict}. Move "${id}" to the end`

  test('after allow: "true", said once, at the first', () => {
    expect(warn('allow: "true"', 'deny: tx.value > ether(1)', 'deny: tx.value > ether(2)')).toEqual([
      `6:11 /rules/1/deny ${message('r0', 'allows')}`,
    ])
  })

  test('after deny: "true" and require: "false"', () => {
    expect(warn('deny: "true"', 'allow: "true"')).toEqual([`6:13 /rules/1/allow ${message('r0', 'denies')}`])
    expect(warn('require: "false"', 'allow: "true"')).toEqual([`6:13 /rules/1/allow ${message('r0', 'denies')}`])
  })

  test('not where the rule decides nothing, or is the last', () => {
    expect(warn('allow: "false"', 'deny: "false"', 'require: "true"', 'allow: "true"')).toEqual([])
  })
})

describe('an argument that a call may lack', () => {
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

  test('names the rule, the argument, the functions without it, and the guard', () => {
    expect(warn(`deny: '${reads}'\n${abiOf(ABI).trimEnd()}`)).toEqual([
      `4:30 /rules/0/deny ${to(`${others}, undecoded data`, `${isTransfer} && …`)}`,
    ])
    expect(messagesOf([decoded, `require: '!${reads}'`])).toEqual([to(others, `!(${isTransfer}) || …`, 'r1')])
    expect(messagesOf(['deny: call.args.amount > 5'])).toEqual([
      'rule "r0" fails for calls without the argument "amount" (undecoded data): write call.decoded && …',
    ])
  })

  test('names the signature of an overloaded function, and at most five functions', () => {
    const overloaded = ['function send(address to)', 'function send(uint256 amount)', 'function sendAll(address to)']
    const fix = 'call.signature in ["send(address)", "sendAll(address)"] && …'
    expect(messagesOf([decoded, `deny: '${reads}'`], overloaded)).toEqual([to('send(uint256)', fix, 'r1')])
    const many = Array.from({ length: 7 }, (_, index) => `function f${index}()`)
    const shown = 'f0(), f1(), f2(), f3(), f4(), 2 other functions'
    const [message] = messagesOf([decoded, `deny: '${reads}'`], [ABI[0]!, ...many])
    expect(message).toBe(to(shown, `${isTransfer} && …`, 'r1'))
    const having = Array.from({ length: 7 }, (_, index) => `function f${index}(address to)`)
    expect(messagesOf([`deny: 'call.decoded && ${reads}'`], [...having, 'function burn()'])).toEqual([
      to('burn()', 'call.function in ["f0", "f1", "f2", "f3", "f4", …] && …'),
    ])
  })

  test('is found in a step of its own', () => {
    const functions = Array.from({ length: 40 }, (_, index) => `function f${index}(uint256 a${index})`)
    const sum = functions.map((_, index) => `call.args.a${index}`).join(' + ')
    const steps = sourceSteps(documentOf(`deny: '${sum} > 0'`) + abiOf(functions), { chains })
    const stepsWithout = sourceSteps(documentOf(`deny: 'true'`) + abiOf(functions), { chains })
    const countOf = (counted: Steps<unknown>): number => {
      let count = 0
      while (counted.next().done !== true) count += 1
      return count
    }
    expect(countOf(steps) - countOf(stepsWithout)).toBeGreaterThanOrEqual(40)
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
    ['a rule that no request reaches', ['deny: "true"', `allow: '${reads}'`]],
  ])('is not reported after %s', (_, rules) => {
    expect(messagesOf(rules).filter((message) => message.includes('argument'))).toEqual([])
  })

  test.each([
    ['a guard in an alternative', `${isTransfer} || ${reads}`],
    ['a guard for another function', `call.function != "burn" && ${reads}`],
    ['a condition on another fact', `tx.value > ether(1) && ${reads}`],
    ['a selector that undecoded data can have', `tx.selector == "0xa9059cbb" && ${reads}`],
  ])('is reported in spite of %s', (_, expression) => {
    expect(messagesOf([`deny: '${expression}'`])).toHaveLength(1)
  })
})

describe('warnings', () => {
  test('come in reading order, and the document is valid all the same', () => {
    const source = documentOf('allow: "true"', 'deny: tx.value > 10 && chain.name == "bas"')
    const { warnings, compiled } = draftRevision(source, { chains })
    expect(warnings.map(({ column }) => column)).toEqual([11, 22, 42])
    expect(compiled.document.rules).toHaveLength(2)
  })

  test('come with a document whose own tests fail', () => {
    const source = `${documentOf('deny: chain.name == "etherium"', 'allow: "true"')}tests:
  - { name: t, request: { from: "0x00000000000000000000000000000000000000b2", chain: ethereum }, verdict: deny }
`
    const refused = (): unknown => draftRevision(source, { chains })
    expect(refused).toThrow(PolicyInvalidError)
    try {
      refused()
    } catch (error) {
      expect((error as PolicyInvalidError).warnings).toHaveLength(1)
    }
  })

  test('also of a document that was compiled before', () => {
    const source = documentOf('deny: tx.value > 11')
    compileSource(source)
    expect(compileSource(source, { chains }).warnings).toHaveLength(1)
  })

  test.each(readTemplates().map(({ name, source }) => [name, source] as const))('none in template %s', (_, source) => {
    expect(compileSource(source, { chains }).warnings).toEqual([])
  })
})

describe('beside a mistake stands what was likely meant', () => {
  const mistakesOf = (expression: string): string[] => {
    try {
      compileSource(documentOf(`deny: '${expression}'`))
    } catch (error) {
      if (error instanceof PolicyInvalidError) return error.issues.map(({ message }) => message)
      throw error
    }
    throw new Error('there is none')
  }
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
    ['balance > 5', 'reads.balance, with reads: { balance: { kind: native-balance } } in the document?'],
    ['wallet.balance > 5', 'reads.balance, with reads: { balance: { kind: native-balance } } in the document?'],
    ['wallet.address == "0x00000000000000000000000000000000000000e1"', 'write addresses as address("…")'],
    ['wallet.address in ["0x00000000000000000000000000000000000000e1"]', 'write addresses as address("…")'],
  ])('%s', (expression, hint) => {
    const [message = '', ...others] = mistakesOf(expression)
    expect(others).toEqual([])
    expect(message).toEndWith(hint)
  })
})
