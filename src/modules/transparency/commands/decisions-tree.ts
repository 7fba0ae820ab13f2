import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CommandDeployment } from '../../../command-line/command-deployment.ts'
import type { TreeCheck } from '../../../command-line/log-services.ts'
import { CommandFailedError, type CommandOutput } from '../../../command-line/output.ts'
import { findSlotEnd, slotLinesBackwards } from '../../../decision-log/backwards.ts'
import type { LineToProve } from '../../../decision-log/line-proof.ts'
import { peekUuid } from '../../../decision-log/record.ts'
import { listSlots } from '../../../decision-log/segment-name.ts'
import { unreadableText } from '../../../lib/named-error.ts'
import { PROGRAM } from '../../../program/labels.ts'
import { openTreeAccess, type TreeAccess } from '../service/tree-access.ts'
import { encodeVerifierKey } from '../tree/note.ts'
import { checkTree } from '../verify/check-tree.ts'
import { proveLine } from '../verify/prove-line.ts'
import type { KeptHead } from '../verify/verify-tree.ts'

const DAMAGED_SHOWN = 3

/** @throws CommandFailedError if the service has never started; errors from opening the store */
export const openTreeOf = (deployment: CommandDeployment): Promise<TreeAccess> =>
  deployment.withStore(async (store) => {
    const { folder, shipping } = deployment
    const access = await openTreeAccess({
      store,
      folder,
      target: await deployment.locateStore(),
      shipTarget: (shipping?.place ?? null) === null ? null : () => deployment.shipTarget(null),
    })
    if (access !== null) return access
    throw new CommandFailedError(
      'the log has no tree yet: start the service once, or verify only the hash chains with --chains',
    )
  })

/** @param checkpoints heads kept by third parties @param archivedBefore ISO time */
export const createTreeCheck =
  (openTree: () => Promise<TreeAccess>, checkpoints: readonly string[], archivedBefore: string | null): TreeCheck =>
  async (logs) => {
    const given = checkpoints.map((path): KeptHead => {
      try {
        return { where: path, checkpoint: readFileSync(path, 'utf8') }
      } catch (error) {
        throw new CommandFailedError(`the checkpoint ${unreadableText(error)}: ${path}`)
      }
    })
    const access = await openTree()
    try {
      return await checkTree({ ...access, heads: [...access.heads, ...given], archivedBefore }, logs)
    } finally {
      await access.close()
    }
  }

/** Searches the newest lines first. @throws CommandFailedError, with the damaged lines */
const findLine = (directory: string, uuid: string): LineToProve => {
  const damaged: string[] = []
  let others = 0
  for (const slot of listSlots(directory)) {
    const slotDirectory = join(directory, slot)
    const { position } = findSlotEnd(slotDirectory)
    if (position === null) continue
    for (const { segment, bytes, start } of slotLinesBackwards(slotDirectory, position)) {
      if (start === 0) continue
      const peeked = peekUuid(bytes)
      if (peeked === null && damaged.length < DAMAGED_SHOWN) damaged.push(`${slot}/${segment.name} at byte ${start}`)
      else if (peeked === null) others += 1
      if (peeked === null || peeked.kind === 'withheld' || peeked.uuid !== uuid) continue
      return { slot, segment: segment.name, offset: start, line: bytes.toString('utf8') }
    }
  }
  const none = `decision ${uuid} not found in ${directory}`
  if (damaged.length === 0) throw new CommandFailedError(none)
  const places = `${damaged.join(', ')}${others > 0 ? ` and ${others} more` : ''}`
  throw new CommandFailedError(`${none}; unreadable lines: ${places}. Run ${PROGRAM} decisions verify`)
}

interface ProveCommand extends CommandOutput {
  readonly uuid: string
  readonly directory: string
  readonly openTree: () => Promise<TreeAccess>
  readonly json: boolean
}

export const runProve = async ({ uuid, directory, openTree, json, stdout, stderr }: ProveCommand): Promise<number> => {
  const place = findLine(directory, uuid)
  const { tree, key, saltKey, close } = await openTree()
  try {
    const proof = tree === null ? null : await proveLine(tree, saltKey, place)
    if (proof === null) throw new CommandFailedError('no signed head covers this decision yet; retry in a second')
    if (json) stdout(`${JSON.stringify({ uuid, log_key: encodeVerifierKey(key), proof })}\n`)
    else {
      stdout(proof)
      stderr(`Log key for verifying this proof: ${encodeVerifierKey(key)}\n`)
    }
    return 0
  } finally {
    await close()
  }
}
