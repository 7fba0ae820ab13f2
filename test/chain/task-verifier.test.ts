// TaskVerifier on a local node: quorums of one to three signers in ascending order, expiry in blocks or seconds, and
// replays.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Hex } from 'viem'
import { taskStatement } from '../signing/arbitraries.ts'
import type { TaskStatement } from '../signing/statements.ts'
import { describeOnChain } from './anvil.ts'
import {
  digestTask,
  encodeInternal,
  flipBit,
  highSTwin,
  type TaskMessageArgument,
  taskMessage,
  testAttester,
  withRecoveryByte,
} from './attesting.ts'
import { type Deployed, type LocalChain, type Outcome, startLocalChain } from './local-chain.ts'

const BLOCK_NUMBER = 0
const TIMESTAMP = 1
const OTHER_ADDRESS = '0x00000000000000000000000000000000000000c5'
const ACCEPTED: Outcome = { result: true }

const attesters = [1, 2, 3, 4].map(testAttester)
const stranger = testAttester(9)

const taskArgument = (task: TaskStatement) => ({
  taskId: task.taskId,
  msgSender: task.from,
  target: task.to,
  value: task.value,
  encodedSigAndArgs: task.data,
  policyID: task.policy,
  quorumThresholdCount: task.quorum,
  expiry: BigInt(task.expiry),
})

describeOnChain('TaskVerifier', () => {
  let chain: LocalChain
  let verifier: Deployed
  const deployVerifier = async (unit: number): Promise<Deployed> => {
    const deployed = await chain.deploy('TaskVerifier', chain.accounts[0], unit)
    for (const { address } of attesters) {
      await chain.send({ to: deployed, name: 'registerAttester', arguments: [address] })
    }
    return deployed
  }
  beforeAll(async () => {
    chain = await startLocalChain(1)
    verifier = await deployVerifier(TIMESTAMP)
  })
  afterAll(() => chain?.stop())

  const sampleTask = async (quorum: number): Promise<TaskStatement> => {
    const expiry = (await chain.timestampSeconds()) + 300
    return { ...fc.sample(taskStatement, 1)[0]!, quorum, expiry }
  }

  const validate = (
    task: TaskStatement,
    { signerAddresses, signatures }: Pick<TaskMessageArgument, 'signerAddresses' | 'signatures'>,
    caller = task.to,
  ) => {
    const values = [taskArgument(task), signerAddresses, signatures]
    return { to: verifier, name: 'validateSignatures', arguments: values, from: caller as Hex } as const
  }
  const expectRefused = async (call: ReturnType<typeof validate>, reverted: string, label: unknown = null) =>
    expect([label, await chain.call(call)]).toEqual([label, { reverted }])

  test('the digest views equal our digest', async () => {
    await fc.assert(
      fc.asyncProperty(taskStatement, async (task) => {
        const expected = `0x${digestTask(task).toHex()}`
        expect(await chain.read<Hex>(verifier, 'hashTaskWithExpiry', taskArgument(task))).toBe(expected as Hex)
        const replaced = { ...taskArgument(task), target: OTHER_ADDRESS }
        const safe = { to: verifier, name: 'hashTaskSafe', arguments: [replaced], from: task.to as Hex }
        expect(await chain.call(safe)).toEqual({ result: expected })
      }),
      { numRuns: 30 },
    )
  })

  describe.each([1, 2, 3])('a quorum of %d', (quorum) => {
    test('accepts its number of signatures once, and refuses changes to each field', async () => {
      for (let round = 0; round < 5; round++) {
        const task = await sampleTask(quorum)
        const message = taskMessage(task, attesters.slice(0, quorum))
        const changes: [string, Partial<TaskStatement>][] = [
          ['task id', { taskId: crypto.randomUUID() }],
          ['sender', { from: OTHER_ADDRESS }],
          ['value', { value: task.value ^ 1n }],
          ['data', { data: `${task.data}00` }],
          ['policy', { policy: `${task.policy} ` }],
          ['expiry', { expiry: task.expiry + 1 }],
        ]
        for (const [name, change] of changes) {
          await expectRefused(validate({ ...task, ...change }, message), 'TaskSignatureInvalid', name)
        }
        await expectRefused(validate(task, message, OTHER_ADDRESS), 'TaskSignatureInvalid', 'target')

        const good = validate(task, message)
        expect((await chain.send(good)).reverted).toBeNull()
        expect(await chain.read<boolean>(verifier, 'spentTaskIds', task.taskId)).toBe(true)
        await expectRefused(good, 'TaskAlreadyUsed')
      }
    })

    test('refuses fewer signatures, and a quorum that the attesters did not sign', async () => {
      const task = await sampleTask(quorum)
      const message = taskMessage(task, attesters.slice(0, quorum))
      const fewer = { signerAddresses: message.signerAddresses.slice(1), signatures: message.signatures.slice(1) }
      await expectRefused(validate(task, fewer), 'QuorumNotReached')
      for (const other of [0, quorum + 1]) {
        await expectRefused(validate({ ...task, quorum: other }, message), 'QuorumNotReached', other)
      }
      if (quorum > 1) await expectRefused(validate({ ...task, quorum: quorum - 1 }, message), 'TaskSignatureInvalid')
    })

    test('refuses lists of different lengths, and checks even signatures beyond the quorum', async () => {
      const task = await sampleTask(quorum)
      const more = taskMessage(task, attesters.slice(0, quorum + 1))
      expect(await chain.call(validate(task, more))).toEqual(ACCEPTED)
      const unequal = [
        { signerAddresses: more.signerAddresses, signatures: more.signatures.slice(1) },
        { signerAddresses: more.signerAddresses.slice(1), signatures: more.signatures },
      ]
      for (const lists of unequal) await expectRefused(validate(task, lists), 'QuorumNotReached')
      const broken = [...more.signatures.slice(0, -1), flipBit(more.signatures.at(-1)!, 5)]
      await expectRefused(validate(task, { ...more, signatures: broken }), 'TaskSignatureInvalid')
    })
  })

  test('refuses signers out of order and duplicate signers', async () => {
    const task = await sampleTask(3)
    const { signerAddresses, signatures } = taskMessage(task, attesters.slice(0, 3))
    const pick = (...places: number[]) => ({
      signerAddresses: places.map((place) => signerAddresses[place]!),
      signatures: places.map((place) => signatures[place]!),
    })
    for (const order of ['021', '102', '210', '001', '011', '222']) {
      await expectRefused(validate(task, pick(...Array.from(order, Number))), 'SignersNotAscending', order)
    }
    expect(await chain.call(validate(task, pick(0, 1, 2)))).toEqual(ACCEPTED)
    const crossed = { signerAddresses, signatures: [signatures[1]!, signatures[0]!, signatures[2]!] }
    await expectRefused(validate(task, crossed), 'TaskSignatureInvalid')
  })

  test('refuses unknown signers, the zero address and other encodings of a signature', async () => {
    const task = await sampleTask(1)
    await expectRefused(validate(task, taskMessage(task, [stranger])), 'SignerNotRegistered')
    const { signerAddresses, signatures } = taskMessage(task, attesters.slice(0, 1))
    const zero = { signerAddresses: [`0x${'00'.repeat(20)}`] as Hex[], signatures }
    await expectRefused(validate(task, zero), 'SignersNotAscending')
    const [signature] = signatures as [Hex]
    for (const spelling of [highSTwin(signature), withRecoveryByte(signature, 0), `${signature}00`] as Hex[]) {
      await expectRefused(validate(task, { signerAddresses, signatures: [spelling] }), 'SignatureMalformed', spelling)
    }
  })

  test('refuses an attester while it is deregistered', async () => {
    const task = await sampleTask(2)
    const message = taskMessage(task, attesters.slice(0, 2))
    const { address } = attesters[1]!
    await chain.send({ to: verifier, name: 'deregisterAttester', arguments: [address] })
    await expectRefused(validate(task, message), 'SignerNotRegistered')
    await chain.send({ to: verifier, name: 'registerAttester', arguments: [address] })
    expect(await chain.call(validate(task, message))).toEqual(ACCEPTED)
  })

  test('accepts a task until the second of its expiry', async () => {
    const task = await sampleTask(2)
    const good = validate(task, taskMessage(task, attesters.slice(0, 2)))
    await chain.setNextTimestamp(task.expiry)
    await chain.mine()
    expect(await chain.call(good)).toEqual(ACCEPTED)
    await chain.setNextTimestamp(task.expiry + 1)
    expect((await chain.send(good)).reverted).toBe('TaskExpired')
  })

  test('accepts a task until the block of its expiry', async () => {
    const byBlock = await deployVerifier(BLOCK_NUMBER)
    const height = Number(await chain.request<Hex>('eth_blockNumber'))
    const task = { ...(await sampleTask(1)), expiry: height + 5 }
    const good = { ...validate(task, taskMessage(task, attesters.slice(0, 1))), to: byBlock }
    await chain.mine(5)
    expect(await chain.call(good)).toEqual(ACCEPTED)
    // The transaction is in the block after the last valid block.
    expect((await chain.send(good)).reverted).toBe('TaskExpired')
    const next = { ...task, taskId: crypto.randomUUID(), expiry: height + 7 }
    const last = { ...validate(next, taskMessage(next, attesters.slice(0, 1))), to: byBlock }
    expect((await chain.send(last)).reverted).toBeNull()
  })

  test('refuses an expiry in seconds if the verifier counts blocks', async () => {
    const byBlock = await deployVerifier(BLOCK_NUMBER)
    const task = await sampleTask(1)
    const good = validate(task, taskMessage(task, attesters.slice(0, 1)))
    expect(await chain.call(good)).toEqual(ACCEPTED)
    expect((await chain.send({ ...good, to: byBlock })).reverted).toBe('TaskExpiryTooFar')
    // The service's maximum is 1,000,000 blocks.
    const far = { ...task, expiry: Number(await chain.request<Hex>('eth_blockNumber')) + 1_000_000 }
    const longest = { ...validate(far, taskMessage(far, attesters.slice(0, 1))), to: byBlock }
    expect((await chain.send(longest)).reverted).toBeNull()
  })

  test('TaskGuardedVault accepts only the evaluated deposit, with its quorum', async () => {
    const [owner, user] = chain.accounts as [Hex, Hex]
    const vault = await chain.deploy('TaskGuardedVault', owner, verifier.address, 'x-0123456789abcdef', 2)
    const task: TaskStatement = {
      ...(await sampleTask(2)),
      from: user.toLowerCase(),
      to: vault.address.toLowerCase(),
      value: 5n,
      data: encodeInternal('_deposit(address)', ['address', user]),
      policy: 'x-0123456789abcdef',
    }
    const message = taskMessage(task, attesters.slice(0, 2))
    const deposit = { to: vault, name: 'deposit', arguments: [user, message], from: user, value: 5n } as const
    const invalid = { reverted: 'TaskSignatureInvalid' }
    expect(await chain.call({ ...deposit, value: 6n })).toEqual(invalid)
    expect(await chain.call({ ...deposit, from: owner })).toEqual(invalid)
    expect(await chain.call({ ...deposit, arguments: [owner, message] })).toEqual(invalid)
    expect((await chain.send(deposit)).reverted).toBeNull()
    expect(await chain.read<bigint>(vault, 'balanceOf', user)).toBe(5n)
    expect(await chain.call(deposit)).toEqual({ reverted: 'TaskAlreadyUsed' })
    const set = { to: vault, name: 'setTaskPolicy', arguments: [verifier.address, 'x', 1], from: user } as const
    expect(await chain.call(set)).toEqual({ reverted: 'CallerNotOwner' })
  })
})
