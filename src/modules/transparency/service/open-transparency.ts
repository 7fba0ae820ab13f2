// The tree over the decision log. A node's first process that serves attestations builds it.

import { LRUCache } from 'lru-cache'
import { AUDIT_HEAD_PROBLEMS } from '../../../admin/services.ts'
import { PROVE_LINE } from '../../../decision-log/line-proof.ts'
import { DependencyUnavailableError } from '../../../domain/errors.ts'
import { provide } from '../../../lib/service-key.ts'
import { onceMade } from '../../../lib/single-flight.ts'
import type { AttestationCore, AttestationParts, ModuleCore, OpenedModule } from '../../../module-interface/module.ts'
import { LOG_FILES, type LogFile, type LogFiles } from '../../../server/log-files.ts'
import type { DataFolder } from '../../../setup/data-folder.ts'
import { readPassphrase } from '../../../signing/passphrase.ts'
import type { StoreTarget } from '../../../store/store-address.ts'
import { TREE_SETTINGS, witnessSettingsOf } from '../settings.ts'
import { openDecisionTreeReader } from '../store/open.ts'
import { HASH_BYTES } from '../tree/hash.ts'
import { encodeVerifierKey } from '../tree/note.ts'
import { parseTilePath, TILE_BYTES } from '../tree/tiles.ts'
import { proveLine } from '../verify/prove-line.ts'
import { keptHeadProblems } from './audit-head.ts'
import { LOG_HEAD, readLogHead } from './log-head.ts'
import { prepareLogKey, readLogKey } from './log-key.ts'
import { addTreeMetrics } from './tree-metrics.ts'
import { startTree, treeTargetOf } from './tree-service.ts'

const createLogTree = (target: StoreTarget, folder: Pick<DataFolder, 'decisionTree'>) => {
  let opened: Awaited<ReturnType<typeof openDecisionTreeReader>> = null
  return {
    /** @throws DependencyUnavailableError before the first head */
    open: onceMade(async () => {
      opened = await openDecisionTreeReader(treeTargetOf(target, folder))
      if (opened === null) throw new DependencyUnavailableError('the log has no tree yet; retry in a second')
      return opened
    }),
    close: async (): Promise<void> => opened?.close(),
  }
}

// The tree, opened on first use, for all readers of this process.
export type LogTree = ReturnType<typeof createLogTree>

/** Shorter than a client's polling interval, so that no client receives an older head after a newer one. */
const HEAD_MS = 500
const TILES_KEPT = 512

const textOf = (content: string): LogFile => ({ content, contentType: 'text/plain; charset=utf-8' })

/** Reads the head at most twice per second. Source: https://c2sp.org/tlog-tiles. */
const createPublishedLog = (tree: Pick<LogTree, 'open'>, monotonicMs: () => number): LogFiles => {
  const full = new LRUCache<string, Uint8Array>({ max: TILES_KEPT })
  let head: { readonly readMs: number; readonly file: Promise<LogFile | null> } | null = null

  const readHead = async (): Promise<LogFile | null> => {
    const checkpoint = await (await tree.open()).published()
    return checkpoint === null ? null : textOf(checkpoint)
  }

  return async (path) => {
    if (path === '/checkpoint') {
      if (head === null || monotonicMs() - head.readMs >= HEAD_MS) head = { readMs: monotonicMs(), file: readHead() }
      return head.file
    }
    const tile = parseTilePath(path.slice(1))
    if (tile === null) return null
    const { level, number, width } = tile
    const key = `${level}/${number}`
    let hashes = full.get(key)
    if (hashes === undefined) {
      ;[hashes = new Uint8Array(0)] = await (await tree.open()).readTiles([{ level, number }])
      if (hashes.length === TILE_BYTES) full.set(key, hashes)
    }
    if (hashes.length < width * HASH_BYTES) return null
    return { content: Uint8Array.from(hashes.subarray(0, width * HASH_BYTES)), contentType: 'application/octet-stream' }
  }
}

export const openTreeReaders = async ({ config, folder, store, target, clock }: ModuleCore): Promise<OpenedModule> => {
  const logTree = createLogTree(target, folder)
  const logKey = onceMade(async () => {
    const found = await readLogKey(store.deployment, folder)
    if (found === null) throw new DependencyUnavailableError('the log has no tree yet; retry in a second')
    return found
  })
  return {
    services: [
      provide(PROVE_LINE, async (line) => {
        const { key, saltKey } = await logKey()
        const proof = await proveLine(await logTree.open(), saltKey, line)
        return proof === null ? null : { proof, logKey: encodeVerifierKey(key) }
      }),
      provide(LOG_HEAD, async () =>
        readLogHead(await logTree.open(), await logKey(), witnessSettingsOf(config), clock.unixSeconds()),
      ),
      provide(AUDIT_HEAD_PROBLEMS, () => keptHeadProblems(store, folder, target)),
      ...(config.of(TREE_SETTINGS.publish) ? [provide(LOG_FILES, createPublishedLog(logTree, clock.monotonicMs))] : []),
    ],
    stop: logTree.close,
  }
}

export const openTree = async (core: AttestationCore): Promise<AttestationParts> => {
  const { folder, store, passphrase, isFirst } = core
  const logKey = await prepareLogKey({
    store,
    folder,
    passphrase: await readPassphrase(passphrase.source),
    workFactor: passphrase.workFactor,
  })
  const tree = isFirst ? startTree(core, logKey) : null
  return {
    addMetrics: (exposition) => addTreeMetrics(exposition, () => tree?.metrics() ?? null),
    // Runs in a trial too, because a trial has its own tree.
    leaderTasks: tree === null ? [] : [tree.leaderTask],
    // Called after the pool has stopped, to include its last lines.
    stop: async () => tree?.stop(),
  }
}
