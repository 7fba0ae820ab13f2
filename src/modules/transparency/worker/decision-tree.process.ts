// Builds the tree over the decision log, with a TreeInput on stdin. Exits with its parent.

import { readFile } from 'node:fs/promises'
import { listenForOrders, stayInBackground } from '../../../../workers/background-process.ts'
import { nodeNameOf } from '../../../decision-log/node-name.ts'
import { errorClassOf, NamedError } from '../../../lib/named-error.ts'
import { systemClock } from '../../../lib/time.ts'
import { openShipTarget } from '../../../object-store/ship-access.ts'
import { createEd25519Signer } from '../../../signing/ed25519.ts'
import { KeystoreLockedError } from '../../../signing/errors.ts'
import { decryptKeystorePkcs8 } from '../../../signing/keystore-pkcs8.ts'
import type { AuditHead } from '../../../store/audit.ts'
import { openDecisionTree } from '../store/open.ts'
import type { StoredHead } from '../store/types.ts'
import type { LogSigner } from '../tree/checkpoint.ts'
import { parseVerifierKey } from '../tree/note.ts'
import { TreeRolledBackError } from '../verify/tree-heads.ts'
import { createAuditKeeper } from './audit-keeper.ts'
import { createCosigning } from './cosigning.ts'
import type { TreeInput, TreeOrder, TreeReport } from './decision-tree-protocol.ts'
import { createTreeMaker } from './tree-maker.ts'

const HEAD_EVERY_MS = 1_000
const LONGEST_WAIT_MS = 60_000
/** Time limit for shipping and cosigning the last head at shutdown. */
const FINISH_MS = 3_000

stayInBackground()

const orders = listenForOrders<Extract<TreeOrder, string>>()
let auditOrder: AuditHead | null = null
process.on('message', (order: TreeOrder) => {
  if (typeof order !== 'string') auditOrder = order.audit
})
const input = (await Bun.stdin.json()) as TreeInput
const monotonicMs = (): number => performance.now()
const key = parseVerifierKey(input.key)

class LogKeyMismatchError extends NamedError {}

const openSeed = async (): Promise<Uint8Array> => {
  const text = await readFile(input.keystorePath, 'utf8')
  for (const passphrase of input.passphrases) {
    try {
      return await decryptKeystorePkcs8(text, passphrase)
    } catch (error) {
      if (!(error instanceof KeystoreLockedError)) throw error
    }
  }
  throw new KeystoreLockedError('no passphrase decrypts the log key')
}

let signer: LogSigner | null = null
const openSigner = async (): Promise<LogSigner> => {
  if (signer !== null) return signer
  const seed = await openSeed()
  const { publicKey, sign } = createEd25519Signer(seed)
  seed.fill(0)
  if (Buffer.compare(publicKey, key.publicKey) !== 0) throw new LogKeyMismatchError()
  signer = { key, sign }
  return signer
}

const tree = await openDecisionTree(input.tree, nodeNameOf(input.directory))
const maker = createTreeMaker({
  directory: input.directory,
  tree,
  saltKey: Uint8Array.fromHex(input.saltKey),
  signer: openSigner,
  key,
  headFile: input.headFile,
  knownHeads: input.knownHeads,
  ship:
    input.ship === null
      ? null
      : { target: openShipTarget(input.ship.place, input.ship.access), intervalMs: input.ship.intervalMs },
  flush: input.flush,
  monotonicMs,
})

const auditKeeper = createAuditKeeper({ tree, file: input.auditFile, key, signer: openSigner })
const { witnesses } = input
const cosigning =
  witnesses === null
    ? null
    : createCosigning({
        witnesses: witnesses.list.map(({ key: text, url }) => ({ key: parseVerifierKey(text), url })),
        required: witnesses.required,
        withinMs: witnesses.withinMs,
        tree,
        monotonicMs,
        unixSeconds: systemClock.unixSeconds,
      })

/** With SQLite, the only service always leads. */
const leads = (): boolean => input.tree.kind === 'sqlite' || orders.newest === 'lead'

let shipping: Promise<void> | null = null
let shipErrorClass: string | null = null
let publishesEachHead = false

/** Has a signed head cosigned and shipped, without delaying the next head. */
const follow = (head: StoredHead): void => {
  cosigning?.offer(head)
  shipping ??= maker
    .ship(head)
    .then(() => {
      shipErrorClass = null
    })
    .catch((error: unknown) => {
      shipErrorClass = errorClassOf(error)
    })
    .finally(() => {
      shipping = null
    })
}

const keepAudit = async (): Promise<Pick<TreeReport, 'audit' | 'auditErrorClass'>> => {
  const order = auditOrder
  auditOrder = null
  try {
    return { audit: await auditKeeper.keep(order), auditErrorClass: null }
  } catch (error) {
    return { audit: null, auditErrorClass: errorClassOf(error) }
  }
}

const pass = async (): Promise<TreeReport> => {
  const report: TreeReport = {
    size: null,
    checkpoint: null,
    errorClass: null,
    shipErrorClass,
    refusal: null,
    audit: null,
    auditErrorClass: null,
    cosigning: leads() ? (cosigning?.state() ?? null) : null,
  }
  try {
    const head = await maker.pass(leads())
    if (head === null) return report
    if (cosigning === null && !publishesEachHead) await tree.writer.publish(null)
    publishesEachHead = true
    follow(head)
    return { ...report, ...(await keepAudit()), size: head.size, checkpoint: head.checkpoint || null }
  } catch (error) {
    const refusal = error instanceof TreeRolledBackError ? error.message : null
    return { ...report, errorClass: errorClassOf(error), refusal }
  }
}

let waitMs = HEAD_EVERY_MS
await orders.run(async () => {
  const startedMs = monotonicMs()
  const report = await pass()
  process.send?.(report)
  waitMs = report.errorClass !== null ? Math.min(waitMs * 2, LONGEST_WAIT_MS) : HEAD_EVERY_MS
  return Math.max(0, waitMs - (monotonicMs() - startedMs))
})
await Promise.race([Promise.all([shipping, cosigning?.settled()]), Bun.sleep(FINISH_MS)])
await tree.close()
process.exit(0)
