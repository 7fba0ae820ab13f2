import type { OperationsOf } from '../../../admin/client-types.ts'
import type { CoreRoute } from '../../../admin/route-table.ts'
import type { ModuleRoute } from '../../../module-routes.ts'

export type Operations = OperationsOf<readonly (CoreRoute | ModuleRoute)[]>
type Answer<Key extends keyof Operations> = Operations[Key]['answer']

export type Account = Answer<'GET /me'>
export type AddressList = Answer<'GET /lists/{list}'>
export type ApiKey = Answer<'GET /organizations/{organization}/keys/{key}'>
export type Approval = Answer<'POST /approvals/{approval}/decide'>
export type Attester = Answer<'GET /attesters'>['data'][number]
export type AuditEntry = Answer<'GET /audit'>['data'][number]
export type AuditVerification = Answer<'GET /audit/verify'>
export type Binding = Answer<'PATCH /organizations/{organization}/bindings/{binding}'>
export type Brand = Answer<'GET /organizations/{organization}/brand'>
export type ChainFinding = Answer<'GET /chain-checks'>['data'][number]
export type CheckedPolicy = NonNullable<Answer<'POST /organizations/{organization}/policies/check'>['policy']>
export type Decision = Answer<'GET /organizations/{organization}/decisions/{uuid}'>['decision']
export type DecisionProof = Answer<'GET /organizations/{organization}/decisions/{uuid}'>['proof']
export type SessionCheck =
  Answer<'GET /organizations/{organization}/sessions/{session}/checks/documents'>['checks'][number]
export type EvidenceDocument =
  Answer<'GET /organizations/{organization}/sessions/{session}/evidence'>['documents'][number]
export type Task = Answer<'GET /jobs/{job}'>
export type ListEntry = Answer<'GET /lists/{list}/entries'>['data'][number]
export type ListSource = Answer<'GET /lists/{list}/source'>
export type LiveEvent = Answer<'GET /live/events'>['events'][number]
export type LivePoint = Answer<'GET /live'>['points'][number]
export type Member = Answer<'GET /organizations/{organization}/members'>['data'][number]
export type MemberOffer = Answer<'GET /organizations/{organization}/member-offers'>['data'][number]
export type OneTimeLink = Answer<'POST /users/{user}/recovery'>
export type Organization = Answer<'GET /organizations/{organization}'>
export type Overview = Answer<'GET /organizations/{organization}/overview'>
export type OwnOffer = Answer<'GET /me/offers'>['data'][number]
export type Passkey = Answer<'GET /me/passkeys'>['data'][number]
export type Policy = Answer<'GET /organizations/{organization}/policies/{policy}'>
export type PolicyIssue = Answer<'POST /organizations/{organization}/policies/check'>['issues'][number]
export type Pool = Answer<'GET /pool'>
export type Process = Pool['processes']['each'][number]
export type Project = Answer<'GET /organizations/{organization}/projects/{project}'>
export type Revision = Answer<'GET /organizations/{organization}/policies/{policy}/revisions'>['data'][number]
export type RevisionWithSource = Answer<'GET /organizations/{organization}/policies/{policy}/revisions/{revision}'>
export type Session = Answer<'GET /organizations/{organization}/sessions'>['data'][number]
export type SessionDetail = Answer<'GET /organizations/{organization}/sessions/{session}'>
export type SessionLink = Answer<'POST /organizations/{organization}/sessions'>
export type SignedIn = Answer<'POST /sign-in'>
export type UploadedList = Answer<'PUT /lists/{list}/content'>
export type User = Answer<'GET /users'>['data'][number]
export type UserSession = Answer<'GET /me/sessions'>['data'][number]
export type WebhookEndpoint = Answer<'GET /organizations/{organization}/webhooks'>['data'][number]
export type WebhookMessage = Answer<'GET /organizations/{organization}/webhook-messages'>['data'][number]
