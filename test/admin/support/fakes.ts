// Fakes of the pool and the processes, and the decision index in the test's thread.
import type { LiveReading } from '../../../src/admin/live/point.ts'
import type { ProcessControl, ProcessTarget } from '../../../src/admin/live/processes.ts'
import type { PoolStats } from '../../../src/pool/pool-statistics.ts'
import { exportPart } from '../../../workers/index/decision-export.ts'
import type { DecisionIndex } from '../../../workers/index/decision-index.ts'
import type { IndexReply, IndexRequest } from '../../../workers/index/decision-index-protocol.ts'

const HISTOGRAM = { boundsMs: [1, 10], counts: [0, 0, 0], count: 0, sumMs: 0 }

export const POOL_STATS: PoolStats = {
  workers: 2,
  busy: 1,
  wanted: 2,
  abandoned: 0,
  queued: 0,
  queueLimit: 100,
  inFlight: 0,
  pending: 0,
  restarts: { crash: 0, hang: 0, start: 0 },
  answered: 0,
  refused: 0,
  expired: 0,
  failed: 0,
  withheld: 0,
  shadows: { same: 0, different: 0, failed: 0 },
  wait: HISTOGRAM,
  run: HISTOGRAM,
  meanServiceMs: 0.1,
  predictedWaitMs: 0,
}

export const createFakePool = () => {
  let wanted = POOL_STATS.wanted
  return {
    stats: (): PoolStats => ({ ...POOL_STATS, wanted }),
    resize: (workers: number) => {
      wanted = workers
    },
  }
}

/** The requested number of processes: the first has the pool, the others are starting. */
export const createFakeProcesses = (
  pool: { resize(workers: number): void },
  read: () => LiveReading,
): ProcessControl => {
  let target: ProcessTarget = { processes: 1, workers: 2 }
  const look: ProcessControl['look'] = async () => ({
    target,
    processesMax: 64,
    processes: Array.from({ length: target.processes }, (_, index) => ({
      index,
      pid: 100 + index,
      state: index === 0 ? 'ready' : 'starting',
      startedAtMs: 0,
      reading: index === 0 ? read() : null,
    })),
  })
  return {
    look,
    resize: (wanted) => {
      target = wanted
      pool.resize(wanted.workers)
      return look()
    },
  }
}

/** The reply of the index process. */
export const answerIndex = (
  index: DecisionIndex,
  request: IndexRequest,
): Extract<IndexReply, { readonly result: unknown }> => {
  const id = 1
  switch (request.operation) {
    case 'search':
      return { id, ok: true, result: index.search(request.filter, request.after, request.limit) }
    case 'find':
      return { id, ok: true, result: index.find(request.organizationId, request.uuid) }
    case 'count':
      return { id, ok: true, result: index.count(request.filter) }
    case 'tally':
      return { id, ok: true, result: index.tally(request.question) }
    case 'export': {
      const found = index.search(request.filter, request.after, request.limit)
      return { id, ok: true, result: exportPart(request.format, found, request.after === null) }
    }
    case 'status':
      return { id, ok: true, result: index.status() }
    case 'rebuild':
      index.rebuild()
      return { id, ok: true, result: null }
  }
}
