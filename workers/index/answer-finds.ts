// Runs the service's requests with a finder of the local or the shared index, and replies with each request's id.
import { errorClassOf } from '../../src/lib/named-error.ts'
import type { TallyQuestion } from '../../src/store/decision-index/tallies.ts'
import { exportPart } from './decision-export.ts'
import type { FoundDecisions } from './decision-finder.ts'
import type { IndexStatus } from './decision-index.ts'
import type { FindOperation, FindRequest, IndexQuestion, IndexReply, IndexResults } from './decision-index-protocol.ts'

interface Finder {
  search(...asked: SearchArguments): FoundDecisions | Promise<FoundDecisions>
  find(organizationId: string, uuid: string): IndexResults['find'] | Promise<IndexResults['find']>
  count(filter: SearchArguments[0]): IndexResults['count'] | Promise<IndexResults['count']>
  tally(question: TallyQuestion): IndexResults['tally'] | Promise<IndexResults['tally']>
}

type SearchRequest = Extract<FindRequest, { operation: 'search' }>
type SearchArguments = [filter: SearchRequest['filter'], after: SearchRequest['after'], limit: number]

const find = async (finder: Finder, request: FindRequest): Promise<IndexResults[FindOperation]> => {
  switch (request.operation) {
    case 'search':
      return finder.search(request.filter, request.after, request.limit)
    case 'find':
      return finder.find(request.organizationId, request.uuid)
    case 'count':
      return finder.count(request.filter)
    case 'tally':
      return finder.tally(request.question)
    case 'export': {
      const found = await finder.search(request.filter, request.after, request.limit)
      return exportPart(request.format, found, request.after === null)
    }
  }
}

export const send = (reply: IndexReply): void => void process.send?.(reply)

let told = ''
export const tellStatus = (status: IndexStatus): void => {
  const text = JSON.stringify(status)
  if (text !== told) send({ id: 0, ok: true, status })
  told = text
}

export const answerFinds = (open: () => Promise<Finder>, onFailed: () => void = () => undefined): void => {
  const answer = async ({ id, request }: IndexQuestion): Promise<void> => {
    try {
      send({ id, ok: true, result: await find(await open(), request as FindRequest) })
    } catch (error) {
      onFailed()
      send({ id, ok: false, errorClass: errorClassOf(error) })
    }
  }
  process.on('message', (question: IndexQuestion) => void answer(question))
}
