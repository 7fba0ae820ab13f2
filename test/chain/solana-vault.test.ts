// The example vault in a Solana machine: lamports leave it only after the registry said yes, for the wallet that was
// attested, and where amount and recipient are bound for those alone (threats row 43).
import { beforeEach, expect, test } from 'bun:test'
import { type Keypair, PublicKey, SystemProgram, TransactionInstruction } from '@solana/web3.js'
import { solanaMessage } from '../../src/client/solana-attestation.ts'
import { ed25519Instruction } from '../../src/client/solana-instructions.ts'
import {
  initializeRegistryInstruction,
  registerAttesterInstruction,
  setPolicyInstruction,
} from '../../src/client/solana-registry.ts'
import { deployProgram } from './solana-deployment.ts'
import {
  initializeVaultInstruction,
  vaultOf,
  type Withdrawal,
  withdrawalCall,
  withdrawInstruction,
} from './solana-vault-calls.ts'
import {
  attest,
  createSolanaWorld,
  deploymentOf,
  errorOf,
  keypair,
  loadProgram,
  POLICY,
  type SolanaWorld,
  START_SECONDS,
  withAccount,
} from './solana-world.ts'
import { describeOnSvm } from './svm.ts'

const LATER = START_SECONDS + 300
const HELD = 10_000_000_000n
const NOT_THIS_SIGNATURE = 6011
const UNAUTHORIZED = 6002

for (const bindsCall of [false, true]) {
  describeOnSvm(`the example vault, ${bindsCall ? 'who and what' : 'who'}`, () => {
    let world: SolanaWorld
    let program: PublicKey
    const recipient = keypair(170).publicKey
    const other = keypair(171)
    beforeEach(() => {
      world = createSolanaWorld()
      const { targetDeployment, registry, user, svm } = world
      program = targetDeployment.program.publicKey
      const { authority } = targetDeployment
      world.must(initializeVaultInstruction(program, authority.publicKey, registry, bindsCall), authority)
      for (const { publicKey } of [user, other]) svm.give(vaultOf(program, publicKey), HELD)
      svm.give(other.publicKey, HELD)
    })

    const withdrawal = (changes: Partial<Withdrawal> = {}): Withdrawal => ({
      owner: world.user.publicKey,
      recipient,
      lamports: 1_000_000_000n,
      ...changes,
    })
    /** An attestation for one withdrawal, and instructions for it or another. */
    const attested = (asked: Withdrawal, bound = bindsCall) => {
      const call = withdrawalCall(program, POLICY, asked, bound)
      const attestation = attest(call, world.nextUuid(), LATER, 140)
      const check = ed25519Instruction(attestation, solanaMessage(call, attestation))
      return { check, withdraw: (done: Withdrawal) => withdrawInstruction(program, world.registry, done, attestation) }
    }
    const run = (instructions: TransactionInstruction[], signer: Keypair = world.user) =>
      errorOf(world.svm.run(instructions, [signer]))
    const held = (owner = world.user.publicKey) => BigInt(world.svm.account(vaultOf(program, owner))?.lamports ?? 0)

    test('pays once for an attestation', () => {
      const asked = withdrawal()
      const { check, withdraw } = attested(asked)
      expect(run([withdraw(asked)])).toBe(NOT_THIS_SIGNATURE)
      expect(run([check, withdraw(asked), withdraw(asked)])).toBe(NOT_THIS_SIGNATURE)
      expect(run([check, withdraw(asked)])).toBeNull()
      expect([held(), BigInt(world.svm.account(recipient)!.lamports)]).toEqual([HELD - asked.lamports, asked.lamports])
      expect(run([check, withdraw(asked)])).toBe(6016)
    })

    test(`${bindsCall ? 'pays' : 'does not mind'} the amount and recipient that were attested${bindsCall ? ' alone' : ''}`, () => {
      const outcome = bindsCall ? NOT_THIS_SIGNATURE : null
      for (const changes of [{ lamports: 1_000_000_001n }, { recipient: other.publicKey }]) {
        const { check, withdraw } = attested(withdrawal())
        expect(run([check, withdraw(withdrawal(changes))])).toBe(outcome)
      }
    })

    test('takes no attestation of the other way', () => {
      const { check, withdraw } = attested(withdrawal(), !bindsCall)
      expect(run([check, withdraw(withdrawal())])).toBe(NOT_THIS_SIGNATURE)
    })

    test('pays from no vault but the attested wallet’s own', () => {
      const { check, withdraw } = attested(withdrawal())
      const theirs = vaultOf(program, other.publicKey)
      expect(run([check, withAccount(withdraw(withdrawal()), 1, theirs)])).toBe(2006)
      // Another wallet signs, with this one's attestation.
      const asOther = withdrawal({ owner: other.publicKey })
      expect(run([check, withdraw(asOther)], other)).toBe(NOT_THIS_SIGNATURE)
      const { keys } = withdraw(withdrawal())
      const unsigned = keys.map((key) => ({ ...key, isSigner: false }))
      expect(run([check, new TransactionInstruction({ ...withdraw(withdrawal()), keys: unsigned })])).toMatch(
        /MissingRequired/,
      )
      expect([held(), held(other.publicKey)]).toEqual([HELD, HELD])
    })

    test('asks its own registry and no other', () => {
      const made = deploymentOf(160)
      world.svm.give(made.authority.publicKey, HELD)
      world.svm.addProgram(made.program.publicKey, loadProgram('registry'), made.authority.publicKey)
      const registry = made.program.publicKey.toBase58()
      const authority = made.authority.publicKey.toBase58()
      world.must(initializeRegistryInstruction(registry, authority), made.authority)
      world.must(registerAttesterInstruction(registry, authority, keypair(143).publicKey.toBase58()), made.authority)
      const { authority: upgrader } = world.targetDeployment
      const change = { target: program.toBase58(), authority: upgrader.publicKey.toBase58() }
      world.must(setPolicyInstruction(registry, change, POLICY), upgrader)
      const asked = withdrawal()
      const call = withdrawalCall(program, POLICY, asked, bindsCall)
      const attestation = attest(call, world.nextUuid(), LATER, 143)
      const check = ed25519Instruction(attestation, solanaMessage(call, attestation))
      const foreign = withdrawInstruction(program, registry, asked, attestation)
      expect(run([check, foreign])).toBe(6200)
      // The right program with the accounts of the other.
      expect(run([check, withAccount(foreign, 3, new PublicKey(world.registry))])).toBe(6005)
      const config = world.svm.account(foreign.keys[0]!.pubkey)!
      const forged = Buffer.from(config.data)
      forged.set(made.program.publicKey.toBytes(), 8)
      const copy = keypair(172).publicKey
      world.svm.setAccount(copy, { ...config, data: forged, owner: made.program.publicKey })
      expect(run([check, withAccount(foreign, 0, copy)])).toBe(6005)
      expect(held()).toBe(HELD)
    })

    test('is initialized by the program’s upgrade authority, once', () => {
      const { authority } = world.targetDeployment
      const again = initializeVaultInstruction(program, authority.publicKey, world.target, bindsCall)
      expect(run([again], authority)).toBe(6004)
      expect(run([initializeVaultInstruction(program, other.publicKey, world.target, bindsCall)], other)).toBe(
        UNAUTHORIZED,
      )
    })

    test('is no vault before it is initialized', () => {
      const bare = deploymentOf(160)
      world.svm.give(bare.authority.publicKey, HELD)
      deployProgram(world.svm, loadProgram('vault'), bare)
      const asked = withdrawal()
      const call = withdrawalCall(bare.program.publicKey, POLICY, asked, bindsCall)
      const attestation = attest(call, world.nextUuid(), LATER, 140)
      const check = ed25519Instruction(attestation, solanaMessage(call, attestation))
      world.svm.give(vaultOf(bare.program.publicKey, world.user.publicKey), HELD)
      expect(run([check, withdrawInstruction(bare.program.publicKey, world.registry, asked, attestation)])).toBe(6005)
      expect(held()).toBe(HELD)
    })

    test('takes no data that is cut or goes on, nor fewer accounts', () => {
      const asked = withdrawal()
      const { check, withdraw } = attested(asked)
      const whole = withdraw(asked)
      const cut = [0, 7, 8, 16, whole.data.length - 1].map((length) => whole.data.subarray(0, length))
      for (const data of [...cut, Buffer.concat([whole.data, Buffer.from([0])])]) {
        expect(run([check, new TransactionInstruction({ ...whole, data })])).toMatch(/InvalidInstructionData/)
      }
      for (let count = 0; count < whole.keys.length; count++) {
        const fewer = new TransactionInstruction({ ...whole, keys: whole.keys.slice(0, count) })
        expect(run([check, fewer])).toMatch(/NotEnoughAccountKeys/)
      }
      expect(run([check, withAccount(whole, 9, SystemProgram.programId)])).toBeNull()
    })
  })
}
