// Body of all responses except 2xx in OpenAPI documents (RFC 9457; src/server/problem.ts).
import { POLICY_ISSUE } from '../policies/issue.ts'
import { named, Type } from '../schema.ts'

const MEMBERS = {
  type: Type.String({ description: 'Name of the kind of problem' }),
  title: Type.String(),
  status: Type.Integer(),
  detail: Type.String({ description: 'What is wrong; repeats nothing of the request' }),
  code: Type.String({ description: 'Stable; for programs' }),
  request_id: Type.String({ description: 'Names the request in the log' }),
  message: Type.String({ description: 'As `detail`, for existing clients' }),
  error: Type.String({ description: 'As `detail`, for existing clients' }),
}

export const PROBLEM = named(
  'Problem',
  Type.Object({
    ...MEMBERS,
    did_you_mean: Type.Optional(
      Type.Array(Type.String(), { description: 'For an unsupported chain: supported chains with a similar name' }),
    ),
  }),
)

/** Problem of the admin API, which names the field (src/admin/field-members.ts). */
export const ADMIN_PROBLEM = named(
  'Problem',
  Type.Object({
    ...MEMBERS,
    field: Type.Optional(
      Type.String({
        description: 'The field at fault: `name`, `add[0].address`. Omitted if no single field is at fault.',
      }),
    ),
    rule: Type.Optional(Type.String({ description: 'What that field requires: `must not be empty`' })),
    issues: Type.Optional(
      Type.Array(POLICY_ISSUE, {
        description: 'For a policy document that can’t be saved: every mistake with its place',
      }),
    ),
  }),
)
