// Entry of the process that searches decisions of all nodes: `bun shared-search.process.ts LOG-DIRECTORY`, the rest on
// standard input. Speaks as decision-search.process.ts does. Ends with its parent.
import { openShipTarget } from '../src/decisions/ship-access.ts'
import { nodeNameOf } from '../src/decisions/ship-names.ts'
import { openSharedIndex } from '../src/store/decision-index/shared-index.ts'
import { ASKED_PRIORITY, stayInBackground } from './background-process.ts'
import { exportHeader, exportRows } from './decision-export.ts'
import type { FindOperation, FindRequest, IndexQuestion, IndexReply, IndexResults } from './decision-index-protocol.ts'
import { createSharedDecisionFinder } from './shared-decision-finder.ts'
import type { SharedIndexInput } from './shared-index-input.ts'

const [directory = ''] = process.argv.slice(2)

stayInBackground(ASKED_PRIORITY)

process.on('disconnect', () => process.exit(0))

const open = async () => {
  const { target, place, access } = (await Bun.stdin.json()) as SharedIndexInput
  const node = nodeNameOf(directory)
  const { reader } = await openSharedIndex(target, node)
  return createSharedDecisionFinder({
    ...{ directory, node, reader },
    shipped: place === null ? null : openShipTarget(place, access),
  })
}

/** Questions that come before it is open wait for it; where it can't be opened the process ends and is started again. */
const opening = open()

const find = async (request: FindRequest): Promise<IndexResults[FindOperation]> => {
  const finder = await opening
  switch (request.operation) {
    case 'search':
      return finder.search(request.filter, request.after, request.limit)
    case 'find':
      return finder.find(request.organizationId, request.uuid)
    case 'count':
      return finder.count(request.filter)
    case 'export': {
      const { decisions, next } = await finder.search(request.filter, request.after, request.limit)
      const header = request.after === null ? exportHeader(request.format) : ''
      return { text: header + exportRows(request.format, decisions), rows: decisions.length, next }
    }
  }
}

const send = (reply: IndexReply): void => void process.send?.(reply)

process.on('message', ({ id, request }: IndexQuestion) => {
  find(request as FindRequest).then(
    (result) => send({ id, ok: true, result }),
    (error: unknown) => send({ id, ok: false, errorClass: error instanceof Error ? error.name : typeof error }),
  )
})

await opening
