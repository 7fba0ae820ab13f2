// EVM calls and Solana instructions in rules, checked against the policy's abi and idl when the policy is saved.
import { describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { encodeFunctionData, parseAbi } from 'viem'
import { compilePolicy } from '../../src/policy/cel/compile.ts'
import { PolicyEvaluationError } from '../../src/policy/evaluation-errors.ts'
import { EVM_WALLET, facts, issuesOf, SOLANA, thrownBy } from './support.ts'

const FUNCTIONS = [
  'function transfer(address to, uint256 amount) returns (bool)',
  'function approve(address spender, uint256 amount)',
  'function submit((address maker, uint256 amount, (uint8 kind, bytes note)[] parts) order, uint256[][] matrix, int8 small)',
  'function batch(address[] recipients, uint256[] amounts, string memo)',
  'function pause()',
] as const
const ABI = parseAbi(FUNCTIONS)
const HEAD = `name: P\nabi: ${JSON.stringify(FUNCTIONS)}\n`
const WHALE = '0x00000000000000000000000000000000000000A1'

/** Allows by default, unless the rule is an `allow`. */
const policyWith = (rule: object, head = HEAD) =>
  compilePolicy(
    `${head}default: ${'allow' in rule ? 'deny' : 'allow'}\nrules: ${JSON.stringify([{ id: 'only', ...rule }])}`,
  )
const policyOf = (expression: string, head = HEAD) => policyWith({ allow: expression }, head)
const denies = (deny: string, fields: Parameters<typeof facts>[0], head = HEAD): boolean =>
  !policyWith({ deny }, head).evaluate(facts(fields)).compliant
const refusal = (expression: string, head = HEAD): string =>
  issuesOf(() => policyOf(expression, head))[0]?.message ?? ''

const transfer = encodeFunctionData({ abi: ABI, functionName: 'transfer', args: [WHALE, 5n] })
const firstPart = { kind: 3, note: '0x01' } as const
const parts = [firstPart, { kind: 4, note: '0x' }] as const
const order = encodeFunctionData({
  abi: ABI,
  functionName: 'submit',
  args: [{ maker: EVM_WALLET, amount: 10n ** 18n, parts }, [[1n, 2n], [3n]], -2],
})
const batch = (recipients: readonly `0x${string}`[], memo = 'rent') =>
  encodeFunctionData({ abi: ABI, functionName: 'batch', args: [recipients, recipients.map((_, i) => BigInt(i)), memo] })

const word = (value: number): string => BigInt.asUintN(256, BigInt(value)).toString(16).padStart(64, '0')

const holds = (expression: string, data: string): boolean => policyOf(expression).evaluate(facts({ data })).compliant

describe('an EVM call', () => {
  test.each([
    ['call.decoded && call.function == "transfer" && call.signature == "transfer(address,uint256)"', transfer],
    ['call.args.amount == uint256("5") && call.args.amount < ether(1)', transfer],
    [`call.args.to == address("${WHALE}")`, transfer],
    ['call.function == "submit" && call.args.order.maker == wallet.address', order],
    ['call.args.order.amount == ether(1) && call.args.order.parts[1].note == "0x"', order],
    ['call.args.order.parts.exists(p, p.kind == 3 && p.note == "0x01")', order],
    ['call.args.order.parts.size() == 2 && size(call.args.order.parts.filter(p, p.kind > 3)) == 1', order],
    ['call.args.matrix[0][1] == 2 && call.args.matrix[1].size() == 1 && 3 in [3] && call.args.small == -2', order],
    ['call.args.matrix.all(row, row.size() > 0)', order],
    ['call.args.recipients.all(r, r != wallet.address) && call.args.memo == "rent"', batch([WHALE])],
    ['call.args.recipients.size() == 2 && call.args.amounts[1] == 1', batch([WHALE, WHALE])],
    ['wallet.address in call.args.recipients', batch([WHALE, EVM_WALLET])],
    ['call.function == "pause"', '0x8456cb59'],
    ['call.function in ["transfer", "pause"]', '0x8456CB59'],
    ['!call.decoded && call.function == "" && call.signature == ""', '0x'],
    ['call.discriminator == "0xa9059cbb00000000"', transfer.toUpperCase().replace('0X', '0x')],
    ['call.discriminator == ""', '0xa9059cbb000000'],
  ] as const)('%s', (expression, data) => expect(holds(expression, data)).toBe(true))

  test.each([
    ['cut short', transfer.slice(0, -2)],
    ['without arguments', transfer.slice(0, 10)],
    ['with a long address', `${transfer.slice(0, 20)}ff${transfer.slice(22)}`],
  ])('%s is denied as a call to its function', (_name, data) => {
    expect(denies('!call.decoded && call.function == "transfer"', { data })).toBe(true)
    expect(denies('call.signature == "transfer(address,uint256)"', { data })).toBe(true)
  })

  test('is decoded once per evaluation', () => {
    const policy = policyOf('call.function == "transfer" && call.args.amount == uint256("5") && call.decoded')
    const verdicts = [transfer, order, '0x', transfer].map((data) => policy.evaluate(facts({ data })).compliant)
    expect(verdicts).toEqual([true, false, false, true])
  })

  test('without an argument that the rule reads fails the rule', () => {
    for (const data of ['0x', order, transfer.slice(0, -2)]) {
      const error = thrownBy(() => holds('call.args.to == wallet.address', data))
      expect(error).toBeInstanceOf(PolicyEvaluationError)
      expect(error).toMatchObject({ code: 'POLICY_FAILED', reason: 'absent', subject: 'call.args.to' })
    }
    expect(holds('call.function == "transfer" && call.args.to == wallet.address', order)).toBe(false)
    const long = batch(Array(257).fill(WHALE))
    expect(holds('call.function == "batch" && call.args.memo == "rent"', long)).toBe(true)
    expect(() => holds('call.args.recipients.size() > 10', long)).toThrow(PolicyEvaluationError)
    expect(() => holds('call.args.memo == ""', batch([], 'x'.repeat(8193)))).toThrow(PolicyEvaluationError)
  })

  // Solidity checks members of calldata arrays when it reads them, and earlier versions of Solidity ignore padding.
  test.each([
    ['a missing member', [1, 2 ** 40]],
    ['a member at a negative offset', [1, -32]],
    ['more values than policies can read', [70, ...Array(70).fill(70 * 32), 4000, ...Array(125).fill(0)]],
  ])('with %s passes no rule about its arguments', (_name, notes) => {
    const head = 'name: P\nabi: ["function pay(address to, uint256 amount, bytes[] notes)"]\n'
    const data = `0x7f65464f${[0xe2, 1000, 0x60, ...notes].map(word).join('')}`
    for (const rule of [
      { deny: 'call.function == "pay" && call.args.amount > 100' },
      { require: 'call.function == "" || call.args.amount < 100' },
      { deny: 'call.decoded && call.args.amount > 100' },
      { require: '!call.decoded || call.args.amount < 100' },
      { allow: '!call.decoded' },
    ]) {
      const { evaluate, evaluateEach } = policyWith(rule, head)
      expect(thrownBy(() => evaluate(facts({ data })))).toMatchObject({ code: 'POLICY_FAILED', reason: 'absent' })
      expect(evaluateEach(facts({ data }))).toMatchObject([{ value: null }])
    }
    for (const rule of [{ require: 'call.decoded' }, { deny: '!call.decoded' }, { deny: 'call.function == "pay"' }])
      expect(policyWith(rule, head).evaluate(facts({ data })).compliant).toBe(false)
    const others = `${head}rules: [{ id: a, allow: call.decoded }, { id: b, deny: tx.value > ether(9) }]`
    expect(compilePolicy(others).evaluate(facts({ data })).ruleId).toBeNull()
  })

  test.each(['call.decoded', 'call.args.small == 1', 'call.discriminator == ""'])('requires data: %s', (expression) =>
    expect(policyOf(expression).requires).toEqual(['data']),
  )
})

const INCOMPARABLE = 'tuples and lists of lists cannot be compared: compare their members'
const DISCRIMINATOR = 'call.discriminator must be 0x followed by 16 lowercase hex digits, or empty'
const ARGUMENTS = 'to, amount, spender, order, matrix, small, recipients, amounts, memo'
describe('a rule about calls is refused', () => {
  test.each([
    ['call.function == "tranfser"', `the policy's abi has no function "tranfser"`],
    ['call.function in ["transfer", "Approve"]', `the policy's abi has no function "Approve"`],
    ['call.signature == "transfer(address, uint256)"', `the policy's abi has no function "transfer(address, uint256)"`],
    ['call.args.value == 1', `unknown argument "value"; known arguments: ${ARGUMENTS}`],
    ['call.args == 1', 'add an argument name, for example call.args.amount'],
    ['call == 1', 'add a field of call: decoded, function, signature, discriminator, args'],
    ['call.args.order.taker == wallet.address', 'No such key: taker'],
    ['call.args.order == call.args.order', 'no such overload: Tuple2 == Tuple2'],
    ['call.args.order.parts == call.args.order.parts', INCOMPARABLE],
    ['call.args.matrix == call.args.matrix', INCOMPARABLE],
    ['call.args.matrix[0] in call.args.matrix', INCOMPARABLE],
    ['call.args.matrix.exists(row, row.exists(x, x == 1))', 'exists() cannot be used inside another loop'],
    ['call.args.to == "0x00"', 'no such overload: address == string: write addresses as address("…")'],
    ['call.args.small > ether(1) || call.args.order', `Logical operator requires bool operands, got 'Tuple2'`],
    ['call.discriminator == "0xA9059CBB00000000"', DISCRIMINATOR],
    [
      'call.args.recipients.all(r, call.args.recipients.exists(s, s == r))',
      'exists() cannot be used inside another loop',
    ],
    ['call.args.matrix.all(row, tx.value in row)', 'the rules up to this one can take'],
  ])('%s', (expression, message) => expect(refusal(expression)).toContain(message))

  test.each([
    ['call.function == "transfer"', 'the policy describes no calls: add an abi, or an idl for Solana'],
    ['call.args.to == wallet.address', 'unknown argument "to"; known arguments: none'],
  ])('without an abi or idl: %s', (expression, message) => {
    expect(refusal(expression, 'name: P\n')).toContain(message)
    expect(policyOf('call.discriminator == ""', 'name: P\n').requires).toEqual(['data'])
  })

  test('if functions disagree about the type of its argument', () => {
    const head = 'name: P\nabi: ["function a(uint256 x)", "function b(address x)"]\n'
    expect(refusal('call.args.x == 1', head)).toBe('"x" is uint256 in a, address in b: rename one of them in the abi')
    expect(policyOf('call.function == "a"', head).requires).toEqual(['data'])
  })
})

/** Anchor IDLs: the format of `anchor build` since 0.30, and the earlier format. */
const TAGS = { name: 'tags', type: { vec: 'string' } }
const NEW_IDL = {
  address: '4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T',
  metadata: { name: 'vault', version: '0.1.0', spec: '0.1.0' },
  instructions: [
    {
      name: 'deposit_funds',
      discriminator: [1, 2, 3, 4, 5, 6, 7, 250],
      accounts: [],
      args: [
        { name: 'amount', type: 'u64' },
        { name: 'delta', type: 'i64' },
        { name: 'to', type: 'pubkey' },
        { name: 'memo', type: 'string' },
        { name: 'limit', type: { option: 'u16' } },
        { name: 'flags', type: { vec: 'bool' } },
        { name: 'hash', type: { array: ['u8', 4] } },
        { name: 'rate', type: 'f64' },
        { name: 'side', type: { defined: { name: 'Side' } } },
        { name: 'order', type: { defined: { name: 'Order' } } },
      ],
    },
    { name: 'close', discriminator: [9, 9, 9, 9, 9, 9, 9, 9], accounts: [], args: [] },
  ],
  types: [
    { name: 'Side', type: { kind: 'enum', variants: [{ name: 'Buy' }, { name: 'Sell', fields: ['u8'] }] } },
    { name: 'Order', type: { kind: 'struct', fields: [{ name: 'price', type: 'u128' }, TAGS] } },
  ],
}
const OLD_ARGUMENTS = [{ name: 'amount', type: 'u64' } as const, { name: 'to', type: 'publicKey' } as const]
const OLD_IDL = {
  version: '0.1.0',
  name: 'vault',
  instructions: [{ name: 'depositFunds', accounts: [], args: OLD_ARGUMENTS }],
}

const u32 = (value: number): Buffer => Buffer.from(new Uint32Array([value]).buffer)
const u64 = (value: bigint): Buffer => Buffer.from(new BigInt64Array([value]).buffer)
const text = (value: string): Buffer => Buffer.concat([u32(Buffer.byteLength(value)), Buffer.from(value)])

/** The arguments of deposit_funds with changed parts. */
const deposit = (changes: Record<string, Buffer> = {}): string => {
  const parts = {
    discriminator: Buffer.from([1, 2, 3, 4, 5, 6, 7, 250]),
    amount: u64(2n ** 63n),
    delta: u64(-5n),
    to: Buffer.alloc(32),
    memo: text('grüezi'),
    limit: Buffer.from([1, 7, 1]),
    flags: Buffer.concat([u32(2), Buffer.from([1, 0])]),
    hash: Buffer.from('deadbeef', 'hex'),
    rate: Buffer.alloc(8),
    side: Buffer.from([1, 200]),
    price: Buffer.concat([u64(3n), u64(1n)]),
    tags: Buffer.concat([u32(2), text('a'), text('b')]),
    ...changes,
  }
  return `0x${Buffer.concat(Object.values(parts)).toString('hex')}`
}

const IDL_HEAD = `name: P\nidl: ${JSON.stringify(NEW_IDL)}\n`

const onSolana = (expression: string, data: string, head = IDL_HEAD): boolean =>
  policyOf(expression, head).evaluate(facts({ ...SOLANA, data })).compliant

describe('a Solana instruction', () => {
  test.each([
    'call.decoded && call.function == "deposit_funds" && call.discriminator == "0x01020304050607fa"',
    'call.args.amount == uint256("9223372036854775808") && call.args.delta == -5',
    'call.args.to == target.address && call.args.memo == "grüezi"',
    'call.args.limit == [uint256("263")] && call.args.limit.exists(l, l > 262)',
    'call.args.flags == [true, false] && call.args.hash == "0xdeadbeef" && call.args.side == "Sell"',
    'call.args.order.price == uint256("18446744073709551619") && "b" in call.args.order.tags',
  ])('%s', (expression) => {
    const { evaluate } = policyOf(expression, IDL_HEAD)
    // Anchor ignores bytes after the arguments.
    for (const data of [deposit(), `${deposit()}00`]) {
      expect(evaluate(facts({ ...SOLANA, data, to: '1'.repeat(32) })).compliant).toBe(true)
    }
  })

  test('decodes an absent option as an empty list', () => {
    expect(onSolana('call.args.limit.size() == 0', deposit({ limit: Buffer.from([0]) }))).toBe(true)
  })

  test.each([
    ['a bool of 2', { flags: Buffer.concat([u32(1), Buffer.from([2])]) }],
    ['an option of 2', { limit: Buffer.from([2, 0, 0]) }],
    ['an unknown variant', { side: Buffer.from([2]) }],
    ['a text that is not UTF-8', { memo: Buffer.concat([u32(1), Buffer.from([0xff])]) }],
    ['a text longer than the data', { memo: u32(0xffffffff) }],
    ...[0x100, 0x1_0000, 0x100_0000, 0xffff_ffff].map((length) => [`a list of ${length} items`, { tags: u32(length) }]),
    ['truncated data', { tags: Buffer.alloc(0) }],
    ['another discriminator', { discriminator: Buffer.from([1, 2, 3, 4, 5, 6, 7, 251]) }],
  ] as [string, Record<string, Buffer>][])('%s is not decoded', (name, changes) => {
    const called = name === 'another discriminator' ? '' : 'deposit_funds'
    const fields = { ...SOLANA, data: deposit(changes) }
    expect(denies(`!call.decoded && call.function == "${called}"`, fields, IDL_HEAD)).toBe(true)
  })

  test('derives discriminators from names in an earlier idl', () => {
    const discriminator = createHash('sha256').update('global:deposit_funds').digest('hex').slice(0, 16)
    const data = `0x${discriminator}${u64(6n).toString('hex')}${'00'.repeat(32)}`
    const head = `name: P\nidl: ${JSON.stringify(OLD_IDL)}\n`
    expect(onSolana('call.function == "depositFunds" && call.args.amount == 6', data, head)).toBe(true)
  })

  test('hides an argument of an unsupported type', () => {
    expect(refusal('call.args.rate > 1', IDL_HEAD)).toContain('unknown argument "rate"')
  })

  test.each([
    ['EVM', {}, '0x43d726d6', `0x${'09'.repeat(8)}`],
    ['Solana', SOLANA, `0x${'09'.repeat(8)}`, '0x43d726d6'],
  ])('is distinguished from an EVM call by the chain: %s', (_name, chain, own, other) => {
    const head = `name: P\nabi: ["function close()"]\nidl: ${JSON.stringify(NEW_IDL)}\n`
    const { evaluate } = policyOf('call.function == "close"', head)
    expect([own, other].map((data) => evaluate(facts({ ...chain, data })).compliant)).toEqual([true, false])
  })
})
