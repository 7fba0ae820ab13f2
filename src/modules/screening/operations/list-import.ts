// Imports a list from local files. For commands, which read the files: a request contains no path.
import { requireFound } from '../../../admin/errors.ts'
import { DEPLOYMENT, declareRoutes } from '../../../admin/route.ts'
import { Type } from '../../../admin/schema.ts'

const PACKED = 'application/octet-stream'
const COUNT = Type.Integer({ minimum: 0 })

export const SCREENING_COMMANDS = [
  declareRoutes('Screening')('importScreeningList', 'PUT', '/screening/lists/{list}/content-here', {
    access: DEPLOYMENT,
    summary: 'Replace a list’s content with entries read from local files',
    rawBody: [PACKED],
    query: Type.Object({
      sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
      entries: COUNT,
      names: COUNT,
      next_due_at_seconds: COUNT,
    }),
    secondPerson: {
      action: 'screening.content',
      see: async (tables, { params, query }) => {
        const list = await tables.screeningLists.find(params.list)
        return {
          subject: params.list,
          name: `screening list ${params.list}`,
          changes: [
            {
              what: 'content',
              before: list?.version?.sha256 ?? null,
              after: `${query.entries} entries (${query.sha256})`,
            },
          ],
        }
      },
    },
    handle: async ({ request, params, query, write }) => {
      const { sha256, entries, names, next_due_at_seconds: nextDueAtSeconds } = query
      const bytes = new Uint8Array(await request.arrayBuffer())
      await write(async (tables, note) => {
        const version = { bytes, sha256, entries, names }
        const read = { token: null, validators: {}, nextDueAtSeconds }
        requireFound(await tables.screeningLists.replace(params.list, version, read), 'list')
        note({
          action: 'screening.import',
          subject: params.list,
          organizationId: null,
          detail: { sha256, entries, names },
        })
      })
      return undefined
    },
  }),
]
