// Body of error responses in OpenAPI documents (RFC 9457; src/server/problem.ts).
import { POLICY_ISSUE } from '../policies/issue.ts'
import { named, Type } from '../schema.ts'

const MEMBERS = {
  type: Type.String({ description: 'Problem type' }),
  title: Type.String(),
  status: Type.Integer(),
  detail: Type.String({ description: 'Description of the problem, without data from the request' }),
  code: Type.String({ description: 'Stable error code for programs' }),
  request_id: Type.String({ description: 'Request ID, as in the log' }),
  message: Type.String({ description: 'Copy of `detail` for existing clients' }),
  error: Type.String({ description: 'Copy of `detail` for existing clients' }),
}

export const PROBLEM = named(
  'Problem',
  Type.Object({
    ...MEMBERS,
    did_you_mean: Type.Optional(
      Type.Array(Type.String(), { description: 'Supported chains with a similar name, if the chain is unsupported' }),
    ),
  }),
)

export const ADMIN_PROBLEM = named(
  'Problem',
  Type.Object({
    ...MEMBERS,
    field: Type.Optional(
      Type.String({
        description: 'The invalid field, such as `name` or `add[0].address`. Omitted if no single field is invalid.',
      }),
    ),
    rule: Type.Optional(Type.String({ description: 'Requirement of the field, such as `must not be empty`' })),
    issues: Type.Optional(
      Type.Array(POLICY_ISSUE, {
        description: 'All errors with their locations, if a policy document is invalid',
      }),
    ),
  }),
)
