// Search, details with proof, and export of decisions. The index finds decisions in the log.
import type { DecisionFilter, DecisionPosition } from '../../store/decision-index/types.ts'
import { decodeCursor, encodeCursor, LIMIT_DEFAULT } from '../cursor.ts'
import { FILTER, FILTER_QUERY, filterOf } from '../decisions/filter.ts'
import {
  BASIS,
  DECISION,
  DECISION_NAMES,
  labelsOf,
  namesOf,
  PROOF,
  showBasis,
  showDecision,
} from '../decisions/show.ts'
import { SubjectUnknownError } from '../errors.ts'
import { declareRoutes, VIEWER } from '../route.ts'
import { closed, nullable, oneOf, PAGE_QUERY, Type } from '../schema.ts'
import type { Services } from '../services.ts'

const route = declareRoutes('Decisions')

const EXPORT_ROWS = 1_000
const FORMATS = { ndjson: 'application/x-ndjson', csv: 'text/csv; charset=utf-8; header=present' } as const

async function* exported(
  services: Services,
  filter: DecisionFilter,
  format: keyof typeof FORMATS,
): AsyncGenerator<string, void> {
  let after: DecisionPosition | null = null
  do {
    const part: { readonly text: string; readonly next: DecisionPosition | null } = await services.decisions.ask({
      operation: 'export',
      filter,
      after,
      limit: EXPORT_ROWS,
      format,
    })
    yield part.text
    after = part.next
  } while (after !== null)
}

export const DECISION_ROUTES = [
  route('searchDecisions', 'GET', '/organizations/{organization}/decisions', {
    access: VIEWER,
    command: { limit: 20 },
    summary: 'Find decisions, newest first',
    description:
      'Searches the complete log. A long search stops early with `complete` set to false, and the next page continues.',
    query: Type.Object({ ...PAGE_QUERY, ...FILTER }),
    answer: closed({
      data: Type.Array(DECISION),
      labels: Type.Record(Type.String(), Type.String(), {
        description:
          'Labels of the bound contracts at `to`, by chain and address (`base/0x…`); contracts without a label are omitted',
      }),
      next_cursor: nullable(Type.String()),
      complete: Type.Boolean({
        description:
          'False if the search stopped early and continues on the next page, or if lines of other nodes are unavailable',
      }),
      up_to_date: Type.Boolean({ description: 'False if the newest decisions may be missing' }),
    }),
    errors: [503],
    handle: async ({ services, organization, query }) => {
      const { limit = LIMIT_DEFAULT, cursor, ...filters } = query
      const from = cursor === undefined ? null : decodeCursor(cursor, ['number', 'number'])
      const found = await services.decisions.ask({
        operation: 'search',
        filter: filterOf(organization.id, filters),
        after: from === null ? null : { atMs: Number(from[0]), number: Number(from[1]) },
        limit,
      })
      const { upToDate } = await services.decisions.ask({ operation: 'status' })
      return {
        data: found.decisions.map(({ record, withheld }) => showDecision(record, withheld)),
        labels: await labelsOf(
          services.store,
          organization.id,
          found.decisions.map(({ record }) => record),
        ),
        next_cursor: found.next === null ? null : encodeCursor([found.next.atMs, found.next.number]),
        complete: found.complete,
        up_to_date: upToDate,
      }
    },
  }),
  route('countDecisions', 'GET', '/organizations/{organization}/decisions/count', {
    access: VIEWER,
    command: false,
    summary: 'Count the results of a search for decisions',
    query: FILTER_QUERY,
    answer: closed({
      count: Type.Integer(),
      exact: Type.Boolean({ description: 'False if the count stopped early, so the number is a lower bound' }),
    }),
    errors: [503],
    handle: ({ services, organization, query }) =>
      services.decisions.ask({ operation: 'count', filter: filterOf(organization.id, query) }),
  }),
  route('exportDecisions', 'GET', '/organizations/{organization}/decisions/export', {
    access: VIEWER,
    summary: 'Export decisions as a file, newest first',
    description:
      'The response is streamed. `countDecisions` returns the number of decisions. A row of the kind `missing` states how many decisions could not be read at this point.',
    query: Type.Object({ ...FILTER, format: oneOf(['csv', 'ndjson']) }),
    streams: true,
    media: ['application/x-ndjson', 'text/csv'],
    errors: [503],
    handle: async (call) => {
      const { services, organization, query } = call
      const { format, ...filters } = query
      const filter = filterOf(organization.id, filters)
      // Must precede the response, because a later error could only abort the stream.
      await services.decisions.ask({ operation: 'status' })
      return services.downloads.respond(call, {
        filename: `decisions-${organization.slug}.${format}`,
        contentType: FORMATS[format],
        parts: exported(services, filter, format),
      })
    },
  }),
  route('readDecision', 'GET', '/organizations/{organization}/decisions/{uuid}', {
    access: VIEWER,
    command: { fields: { uuid: { word: 'UUID' } } },
    summary: 'Show a decision in full, with its position in the log',
    answer: closed({ decision: DECISION, names: DECISION_NAMES, basis: BASIS, proof: PROOF }),
    errors: [503],
    handle: async ({ services, organization, params }) => {
      const uuid = params.uuid.toLowerCase()
      const wellFormed = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(uuid)
      const found = wellFormed
        ? await services.decisions.ask({ operation: 'find', organizationId: organization.id, uuid })
        : null
      if (found === null || found.record.kind === 'withheld') throw new SubjectUnknownError('decision')
      const { slot, segment, offset, length, hash, previousHash, previousMatches, nextMatches } = found.proof
      return {
        decision: showDecision(found.record, found.withheld),
        names: await namesOf(services.store, organization.id, found.record),
        basis: showBasis(found.record),
        proof: {
          slot,
          segment,
          offset,
          length,
          hash,
          // The line contains the signatures, which showDecision leaves out too.
          line: found.withheld ? '' : found.line,
          previous_hash: previousHash,
          previous_matches: previousMatches,
          next_matches: nextMatches,
        },
      }
    },
  }),
]
