import { exportList, finishUpload, LIST_MEDIA_TYPES, type StagedUpload, uploadList } from '../list-files.ts'
import { requireList } from '../lists.ts'
import { declareRoutes } from '../route.ts'
import { closed, named, oneOf, Type } from '../schema.ts'
import { needsForUpload, seeUpload } from '../second-person/see-list.ts'
import { editContext, type ListOwner, ownerOf } from './list-shapes.ts'

const UPLOADED = named(
  'UploadedList',
  closed({
    applied: Type.Boolean({ description: 'False if a line is invalid and nothing was changed' }),
    entries: Type.Integer({ description: 'Number of entries in the list after the upload' }),
    read: Type.Integer({ description: 'Entries read from the file' }),
    bad_line_count: Type.Integer(),
    bad_lines: Type.Array(closed({ line: Type.Integer(), problem: Type.String() }), {
      description: 'First 100 invalid lines',
    }),
    skipped: Type.Record(Type.String(), Type.Integer(), { description: 'Number of addresses of unsupported chains' }),
  }),
)

export const listFileRoutes = <Prefix extends string>({ tag, prefix, suffix, access }: ListOwner<Prefix>) => {
  const route = declareRoutes(tag, prefix)
  return [
    route(`upload${suffix}List`, 'PUT', '/lists/{list}/content', {
      access: access.write,
      summary: 'Replace a list with a file, or add the file to it',
      description:
        'Accepts text with one address per line, CSV with address and memo, or the US Treasury’s sdn_advanced.xml. If a line is invalid, nothing changes, unless `skip_bad` is true.',
      query: Type.Object({
        merge: Type.Optional(Type.Boolean({ description: 'Add to the list instead of replacing it' })),
        skip_bad: Type.Optional(Type.Boolean({ description: 'Skip invalid lines' })),
      }),
      rawBody: LIST_MEDIA_TYPES,
      streams: true,
      answer: UPLOADED,
      errors: [409, 415],
      secondPerson: {
        action: 'list.upload',
        needs: (_tables, { organization, params, query }) =>
          needsForUpload(params.list, ownerOf({ organization }), query.merge === true),
        see: (tables, { organization, params, kept }) =>
          seeUpload(tables, ownerOf({ organization }), params.list, kept as StagedUpload),
        kept: {
          hold: (tables, kept, untilSeconds) =>
            tables.listBases.keepStaged((kept as StagedUpload).activation.baseId, untilSeconds),
          discard: ({ store }, kept) => store.listBases.discard((kept as StagedUpload).activation.baseId),
        },
      },
      handle: async ({ request, params, query, kept, ...call }) => {
        const context = editContext(call, params.list)
        if (kept !== null) {
          const staged = kept as StagedUpload
          await finishUpload(context, staged)
          const { entries, read } = staged
          return { applied: true, entries, read, bad_line_count: 0, bad_lines: [], skipped: {} }
        }
        const contentType = request.headers.get('content-type')
        const merge = query.merge === true
        const options = {
          merge,
          skipBad: query.skip_bad === true,
          // Commands override the rule, and keys are refused.
          needsSecondPerson:
            call.actor.kind === 'person' && needsForUpload(params.list, context.owner, merge) === 'second-person',
        }
        const result = await call.services.listUploads.run(context.owner, request.body, (bytes) =>
          uploadList(context, { contentType, bytes }, options),
        )
        return {
          applied: result.applied,
          entries: result.entries,
          read: result.read,
          bad_line_count: result.badLineCount,
          bad_lines: result.badLines.map(({ line, problem }) => ({ line, problem })),
          skipped: { ...result.skipped },
        }
      },
    }),
    route(`export${suffix}List`, 'GET', '/lists/{list}/content', {
      access: access.read,
      summary: 'Download a list as a file',
      query: Type.Object({ format: Type.Optional(oneOf(['csv', 'text'])) }),
      streams: true,
      media: ['text/csv', 'text/plain'],
      handle: async (call) => {
        const { services, organization, params, query } = call
        const list = await requireList(services.store, ownerOf({ organization }), params.list)
        const format = query.format ?? 'csv'
        return services.downloads.respond(call, {
          filename: `${list.name}.${format === 'csv' ? 'csv' : 'txt'}`,
          contentType: `${format === 'csv' ? 'text/csv' : 'text/plain'}; charset=utf-8`,
          parts: exportList(services.store, list, format),
        })
      },
    }),
  ]
}
