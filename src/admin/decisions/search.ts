// Queries the decision index, which runs in two processes: one builds it, one searches.
import type { IndexOperation, IndexRequest, IndexResults } from '../../../workers/index/decision-index-protocol.ts'
import {
  type AskedProcessDependencies,
  createAskedProcess,
  type IndexEvent,
  type IndexProcess,
  type IndexProcessListener,
} from './index-process.ts'

export type IndexRole = 'build' | 'find'

interface DecisionSearchDependencies extends Pick<AskedProcessDependencies, 'after'> {
  readonly spawn: (role: IndexRole, listener: IndexProcessListener) => IndexProcess
  readonly onEvent?: (event: IndexEvent) => void
}

export interface DecisionSearch {
  ask<Operation extends IndexOperation>(
    request: Extract<IndexRequest, { operation: Operation }>,
  ): Promise<IndexResults[Operation]>
  close(): void
}

const ROLES: Readonly<Record<IndexOperation, IndexRole>> = {
  search: 'find',
  find: 'find',
  count: 'find',
  tally: 'find',
  export: 'find',
  status: 'build',
  rebuild: 'build',
}

export const createDecisionSearch = (dependencies: DecisionSearchDependencies): DecisionSearch => {
  const { spawn, after, onEvent = () => undefined } = dependencies
  let status: IndexResults['status'] | null = null
  const builder = createAskedProcess({
    spawn: (listener) => spawn('build', listener),
    after,
    onEvent: (event) => {
      // Without the builder, new lines of the log aren't detected.
      if (event.type === 'lost' && status !== null) status = { ...status, upToDate: false }
      onEvent(event)
    },
    onStatus: (said) => {
      status = said
    },
  })
  const finder = createAskedProcess({ spawn: (listener) => spawn('find', listener), after, onEvent })
  const answer = (request: IndexRequest): Promise<IndexResults[IndexOperation]> => {
    if (request.operation === 'status' && status !== null) return Promise.resolve(status)
    return (ROLES[request.operation] === 'build' ? builder : finder).ask(request)
  }
  return {
    ask: (request) => answer(request) as Promise<never>,
    close: () => {
      builder.close()
      finder.close()
    },
  }
}
