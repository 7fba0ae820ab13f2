// What the admin API takes and answers. Written by `bun test/dashboard/support/write-api-types.ts` from the document that
// the service serves; a test compares the two.

/** No members. */
type None = Record<never, never>

export interface Account {
  readonly kind: 'person' | 'key'
  /** As in the audit log */
  readonly id: string
  readonly name: string
  readonly email: string | null
  /** May administer the deployment */
  readonly deployment_admin: boolean
  readonly memberships: readonly {
    readonly organization_id: string
    /** Each role includes the rights of those after it */
    readonly role: 'organization-admin' | 'reviewer' | 'viewer'
  }[]
  readonly has_totp: boolean
  readonly recovery_codes_left: number
  readonly has_passkeys: boolean
  /** False when the page’s address is an IP address: passkeys need a host name */
  readonly passkeys_possible: boolean
  readonly second_factor_missing: {
    /** The deployment is closed to this account until it has a second factor */
    readonly deployment: boolean
    /** These organizations are closed to it */
    readonly organization_ids: readonly string[]
  }
}

export interface AddressList {
  readonly name: string
  readonly description: string
  /** Whether it is the deployment’s, so that every organization’s policies may read it */
  readonly shared: boolean
  readonly entries: number
  readonly version: number
  /** `screening`: the wallets that a list of sanctioned people names */
  readonly kept_by: 'people' | 'source' | 'screening'
  /** When its source last confirmed the content; null before that, and for lists kept by people */
  readonly confirmed_at: string | null
  readonly created_at: string
  readonly updated_at: string
}

export interface ApiKey {
  /** The 12 characters after the key’s prefix */
  readonly id: string
  /** What the key is for */
  readonly kind: 'attestation' | 'identity' | 'admin'
  /** Test keys see identity sessions of test keys only */
  readonly environment: 'live' | 'test'
  readonly scopes: readonly string[]
  readonly name: string
  readonly status: 'active' | 'expired' | 'revoked'
  readonly rate_limit: {
    readonly requests_per_second: number
    /** Largest burst of requests */
    readonly burst: number
  } | null
  readonly created_at: string
  readonly expires_at: string | null
  readonly revoked_at: string | null
  readonly last_used_at: string | null
  readonly replaced_by: string | null
}

export interface Approval {
  readonly id: string
  readonly action:
    | 'policy.activate'
    | 'project.create'
    | 'project.change'
    | 'binding.create'
    | 'binding.remove'
    | 'list.create'
    | 'list.edit'
    | 'list.upload'
    | 'list.source'
    | 'list.source-end'
    | 'list.remove'
    | 'member.add'
    | 'member.role'
    | 'member.remove'
    | 'member.invite'
    | 'organization.level'
    | 'organization.verification-trust'
    | 'organization.session-policy'
    | 'account.create'
    | 'account.change'
    | 'attester.add'
    | 'attester.retire'
    | 'settings.second-person-off'
  /** Id of the thing to change */
  readonly subject: string
  /** Its name at that time */
  readonly name: string
  /** What the requester saw; null: nothing */
  readonly changes: readonly {
    readonly what: string
    readonly before: string | null
    readonly after: string | null
  }[]
  /** Between the then active revision and the requested one, as `diffRevisions` answers */
  readonly differences: readonly Readonly<Record<string, unknown>>[] | null
  /** Results of shadow and replay at that time */
  readonly effects: readonly string[]
  /** The requester’s comment */
  readonly comment: string
  readonly state: 'pending' | 'approved' | 'rejected' | 'expired'
  /** Account */
  readonly requested_by: string
  /** The account’s present name */
  readonly requested_by_name: string
  readonly decided_by: string | null
  readonly decided_by_name: string | null
  readonly created_at: string
  readonly expires_at: string
  readonly decided_at: string | null
}

export interface Attester {
  readonly id: string
  /** secp256k1 for EVM chains, Ed25519 for Solana */
  readonly kind: 'secp256k1' | 'ed25519'
  /** EIP-55 address, or base58 public key */
  readonly address: string
  /** PKCS#11 URI of the key in the hardware token; null: the key is in a keystore */
  readonly token_key: string | null
  /** Active ones sign; retired ones are not loaded, for good */
  readonly status: 'active' | 'retiring' | 'retired'
  readonly created_at: string
}

export interface AuditEntry {
  /** Increases by one with every entry of the deployment */
  readonly sequence: number
  readonly at: string
  readonly organization_id: string | null
  /** `user:<id>`, `key:<id>`, `command-line`, `service` or `visitor` */
  readonly actor: string
  readonly actor_name: string
  readonly action: string
  readonly subject: string
  readonly subject_name: string | null
  /** Given values; for a changed value, before and after */
  readonly detail: Readonly<Record<string, unknown>>
  readonly request_id: string
  /** The client’s address; empty for the command line */
  readonly address: string
  readonly previous_hash: string
  /** SHA-256 over the entry and the hash of the one before it */
  readonly hash: string
}

export interface AuditVerification {
  readonly ok: boolean
  readonly entries: number
  /** The first entry that breaks the chain */
  readonly broken_at: number | null
  /** Keep it elsewhere: it proves later that no entry up to here was changed */
  readonly head_hash: string
  /** Differences between the log and its signed heads, which are kept beside the decision log’s tree */
  readonly problems: readonly string[]
}

export interface Binding {
  readonly id: string
  readonly project_id: string
  readonly chain: string
  /** EIP-55 for EVM, base58 for Solana */
  readonly address: string
  readonly label: string | null
  readonly created_at: string
}

export interface Brand {
  /** `#rrggbb`; null: the page’s own */
  readonly color: string | null
  /** Changes when the logo does; null: none */
  readonly logo_version: string | null
  /** URL of its privacy policy */
  readonly privacy_url: string | null
  /** Where people can ask questions */
  readonly support_email: string | null
  /** The organization’s text for people, in English */
  readonly words_en: string | null
  /** The same in German */
  readonly words_de: string | null
  /** Measured wait for a decision, lately; null before five decisions */
  readonly usual_wait_seconds: number | null
}

export interface ChainFinding {
  readonly chain: string
  readonly check: 'rpc' | 'clock' | 'registry' | 'attester'
  /** The host of an RPC URL, the registry’s address, or an attester’s */
  readonly subject: string
  /** problem: attestations fail or are refused */
  readonly result: 'ok' | 'note' | 'problem'
  readonly detail: string
}

export interface CheckedPolicy {
  readonly name: string
  readonly description: string
  readonly decides: 'requests' | 'sessions'
  readonly default: 'allow' | 'deny' | 'review'
  readonly quorum: number
  readonly rules: readonly {
    readonly id: string
    readonly kind: 'allow' | 'deny' | 'require' | 'review'
    readonly expression: string
    readonly code: string | null
    readonly message: string | null
  }[]
  /** Request fields that callers have to send */
  readonly requires: readonly string[]
  /** Sources that the policy asks */
  readonly needs: readonly Readonly<Record<string, unknown>>[]
  /** `needs` in words */
  readonly asks_for: readonly string[]
  /** An example answer of each source, for `facts` and `lists` of a simulation */
  readonly example_facts: Readonly<Record<string, unknown>>
  readonly tests: number
}

export interface CreatedOrganization {
  readonly id: string
  /** Short name; may be used instead of the id in paths */
  readonly slug: string
  readonly name: string
  /** How closely people and businesses are checked; a wallet verified at a lower one is not verified */
  readonly level: 'basic' | 'standard' | 'enhanced'
  readonly created_at: string
  /** The key that was asked for, shown this once; null without one, and for a repeated request */
  readonly admin_key: string | null
}

export interface Decision {
  /** Of the attestation, or the task’s id */
  readonly uuid: string
  readonly at: string
  readonly kind: 'attestation' | 'task'
  readonly verdict: 'compliant' | 'denied'
  /** The answer came after the deadline and was not sent then; a repetition with the same Idempotency-Key may still get it */
  readonly withheld: boolean
  readonly project_id: string
  readonly policy_id: string
  readonly policy_name: string
  readonly revision_id: string
  readonly verification_hash: string
  readonly chain: string
  readonly from: string
  /** The user whom `from` represents */
  readonly on_behalf: string | null
  readonly to: string
  readonly value: string
  readonly data_sha256: string
  readonly data_size: number
  /** The one that decided; null: the policy’s default */
  readonly rule: string | null
  readonly code: string | null
  readonly message: string | null
  readonly expiration: number
  readonly attesters: readonly string[]
  readonly signatures: readonly string[]
  readonly key_id: string
  readonly request_id: string
  /** What the shadow revision would have decided */
  readonly shadow: {
    readonly revision_id: string
    /** null: it could not be evaluated, and `rule` is the one that failed */
    readonly verdict: 'compliant' | 'denied' | null
    readonly rule: string | null
  } | null
}

export interface DecisionBasis {
  /** The time that the rules saw */
  readonly requested_at: string | null
  /** Call data; null where it was too long to keep */
  readonly data: string | null
  /** What the rules were told beyond the request, with what is personal as keyed hashes */
  readonly facts: Readonly<Record<string, unknown>> | null
}

export interface DecisionProof {
  readonly slot: string
  /** File of the log */
  readonly segment: string
  /** Where its line begins, bytes */
  readonly offset: number
  readonly length: number
  /** The line as it is in the file */
  readonly line: string
  /** SHA-256 of the line */
  readonly hash: string
  /** Which the line carries of the one before it */
  readonly previous_hash: string
  readonly previous_matches: boolean
  /** The line after it carries its hash; null while it is the newest of its file */
  readonly next_matches: boolean | null
}

export interface DecisionTallies {
  /** Beginning of the first interval that was counted */
  readonly since: string
  /** Length of an interval: an hour by `rule`, otherwise a quarter of an hour */
  readonly step_seconds: number
  /** False: the newest decisions may not be counted */
  readonly up_to_date: boolean
  /** The most frequent first; what has none is left out */
  readonly data: readonly DecisionTally[]
}

export interface DecisionTally {
  readonly organization_id: string | null
  readonly organization_name: string | null
  readonly key_id: string | null
  readonly key_name: string | null
  readonly policy_id: string | null
  readonly policy_name: string | null
  readonly rule: string | null
  readonly compliant: number
  readonly denied: number
  readonly later: {
    readonly compliant: number
    readonly denied: number
  } | null
}

export interface DeploymentSettings {
  /** Whether changes of attester keys, deployment admins and shared lists need a second person */
  readonly second_person: boolean
}

export interface DocumentCheck {
  /** For example `document.name`, `person.age`, `lists.names`, `wallets.lists` */
  readonly check: string
  /** `look`: someone has to look at it. `unreadable`: it says nothing about the person. `not-done`: it could not be made */
  readonly outcome: 'passed' | 'look' | 'failed' | 'unreadable' | 'not-done'
  /** Sessions of other identities with the same value */
  readonly sessions: readonly string[]
  /** The result for each identity document */
  readonly documents: readonly {
    readonly id: string
    readonly outcome: 'read' | 'doubtful' | 'none' | 'pdf' | 'picture'
  }[]
  readonly minimum_age: number | null
  /** Why the check could not be made */
  readonly problem: string | null
  /** Version of the reader or list that the check was made with */
  readonly version: string
  readonly checked_at: string
}

export interface DocumentZone {
  readonly document_id: string | null
  readonly format: 'TD1' | 'TD2' | 'TD3'
  readonly type: string
  /** Three characters, as in the zone */
  readonly issuer: string
  readonly nationality: string
  readonly number: string
  readonly surname: string
  readonly given_names: string
  readonly birth_date: string | null
  readonly expiry_date: string
  readonly sex: 'M' | 'F' | null
}

export interface EvidenceDocument {
  readonly id: string
  readonly kind: string
  readonly media_type: string
  readonly bytes: number
  readonly file_name: string
  readonly created_at: string
}

export interface EvidenceRetention {
  readonly completed_days: number
  readonly rejected_days: number
  /** Days after the last step of a session that was never handed in */
  readonly abandoned_days: number
}

export interface Job {
  readonly id: string
  readonly kind: string
  readonly state: 'queued' | 'running' | 'done' | 'failed' | 'cancelled'
  readonly progress: {
    readonly done: number
    /** In the kind’s own unit, such as bytes; 0 while unknown */
    readonly total: number
  }
  readonly result: Readonly<Record<string, unknown>> | null
  readonly failure: string | null
  readonly created_by: string
  readonly created_at: string
  readonly started_at: string | null
  readonly finished_at: string | null
}

export interface ListCheck {
  /** How the names compare. `off`: they were compared with no list. `look`: a hit is open. `failed`: a hit is confirmed. `not-done`: it could not be compared */
  readonly outcome: 'off' | 'waiting' | 'passed' | 'look' | 'failed' | 'not-done'
  /** Checks of the session are still being made */
  readonly waiting: boolean
  /** Why it could not be compared */
  readonly detail: string | null
  readonly threshold: number | null
  readonly checked_at: string | null
  readonly versions: readonly {
    readonly list: string
    readonly version: string
  }[]
  readonly hits: readonly {
    readonly id: string
    /** Which found it: `lists.names`, `wallets.lists` or `wallets.screeners.` and a name */
    readonly check: string
    /** Name of the list, or of the screener */
    readonly list: string
    /** As the publisher numbers it; of a wallet its address */
    readonly entry: string
    /** The version of the list that it was found in; a screener has none */
    readonly version: string
    /** The listed name that resembles */
    readonly name: string
    /** Whose name it is like: `person`, `business`, or `owner 1`; or `wallet` */
    readonly subject: string
    readonly score: number
    readonly why: readonly {
      readonly part: string
      readonly points: number
      readonly detail: string
    }[]
    readonly state: 'open' | 'cleared' | 'confirmed'
    readonly found_at: string
    readonly decided_at: string | null
    readonly decided_by: string | null
    readonly reason: string | null
  }[]
}

export interface ListEntry {
  readonly address: string
  readonly memo: string
  readonly author: string
  readonly key_name: string | null
  readonly added_at: string
}

export interface ListSource {
  /** The URL; null for a file of the deployment’s machine, which is set from the command line */
  readonly location: string | null
  /** sdn-advanced: the US Treasury’s sdn_advanced.xml */
  readonly format: 'text' | 'csv' | 'sdn-advanced'
  /** Networks that its address may be in */
  readonly reach: 'public' | 'private' | 'loopback'
  /** False: one bad line refuses the whole file */
  readonly skips_bad_lines: boolean
  readonly every_seconds: number
  readonly due_at: string
  readonly attempted_at: string | null
  /** Why the last attempt failed: the list keeps the last good content and grows older */
  readonly failure: string | null
  /** When the source was last read successfully */
  readonly confirmed_at: string | null
  readonly file_sha256: string | null
  readonly file_bytes: number | null
  /** Number of addresses of unsupported chains */
  readonly skipped: number | null
}

export interface LiveEvent {
  /** Unix milliseconds */
  readonly at: number
  readonly kind: 'start' | 'resize' | 'policy'
  /** In words */
  readonly text: string
}

export interface LivePoint {
  /** End of the interval, Unix milliseconds */
  readonly at: number
  /** Length of the interval */
  readonly seconds: number
  readonly decisions: {
    /** Compliant verdicts, per second */
    readonly compliant: number
    /** Denials, per second */
    readonly denied: number
  }
  /** The same by chain; chains without any are left out */
  readonly decisions_by_chain: Readonly<
    Record<
      string,
      {
        readonly compliant: number
        readonly denied: number
      }
    >
  >
  /** Answers with an error, by code, per second; codes without any are left out */
  readonly errors: Readonly<Record<string, number>>
  /** Answers that refuse a request for what it is, or for how many there were, per second */
  readonly refused: number
  /** Answers that fail for reasons of the service, per second */
  readonly failed: number
  readonly latency_ms: {
    readonly p50: number
    readonly p90: number
    readonly p99: number
    readonly p999: number
  } | null
  readonly queue_wait_ms: {
    readonly p50: number
    readonly p90: number
    readonly p99: number
    readonly p999: number
  } | null
  readonly run_ms: {
    readonly p50: number
    readonly p90: number
    readonly p99: number
    readonly p999: number
  } | null
  readonly workers: {
    readonly live: number
    /** At the end of the interval */
    readonly busy: number
    readonly wanted: number
    readonly abandoned: number
    /** Share of the interval that the workers worked, 0 to 1 */
    readonly utilization: number
  }
  readonly queue: {
    readonly waiting: number
    readonly limit: number
    readonly in_flight: number
  }
  readonly jobs: {
    /** Jobs answered, per second */
    readonly answered: number
    /** Jobs refused, per second */
    readonly refused: number
    /** Jobs too late, per second */
    readonly expired: number
    /** Jobs failed, per second */
    readonly failed: number
    /** Answers kept back, per second */
    readonly withheld: number
  }
  readonly cpu: {
    /** CPU time of the process over the interval: 1 is one core fully used */
    readonly cores: number
    /** All of it, over the decisions */
    readonly per_decision_us: number | null
  }
  readonly event_loop_ms: {
    readonly p50: number
    readonly p99: number
    readonly max: number
  } | null
  readonly memory_bytes: number
  readonly active_requests: number
  /** Open event streams */
  readonly streams: number
}

export interface LogHead {
  /** Number of lines under the newest signed head */
  readonly size: number
  /** Verifier key of the log */
  readonly log_key: string
  /** The published head (C2SP tlog-checkpoint), with its cosignatures */
  readonly published: string
  /** Number of lines under this head */
  readonly published_size: number
  /** How many cosignatures a head needs; 0 also when no witness is configured */
  readonly cosignatures_required: number
  readonly cosignatures_within_seconds: number
  readonly cosignatures_late: boolean
  readonly witnesses: readonly {
    readonly name: string
    readonly cosigned_at: string | null
  }[]
}

export interface Member {
  readonly user_id: string
  readonly email: string
  readonly name: string
  /** Each role includes the rights of those after it */
  readonly role: 'organization-admin' | 'reviewer' | 'viewer'
  /** Whether the invitation has not been used yet */
  readonly invited: boolean
  readonly disabled: boolean
  readonly created_at: string
}

export interface MemberOffer {
  readonly id: string
  /** As in the request; does not reveal the account’s name */
  readonly email: string
  /** Each role includes the rights of those after it */
  readonly role: 'organization-admin' | 'reviewer' | 'viewer'
  /** As in the audit log */
  readonly asked_by: string
  readonly asked_by_name: string
  readonly created_at: string
  readonly expires_at: string
}

export interface MinimumAge {
  /** For levels without a minimum age of their own */
  readonly years: number | null
  readonly levels: {
    readonly basic: number | null
    readonly standard: number | null
    readonly enhanced: number | null
  }
}

export interface OneTimeLink {
  /** Works once; shown this once */
  readonly url: string
  readonly expires_at: string
}

export interface Organization {
  readonly id: string
  /** Short name; may be used instead of the id in paths */
  readonly slug: string
  readonly name: string
  /** How closely people and businesses are checked; a wallet verified at a lower one is not verified */
  readonly level: 'basic' | 'standard' | 'enhanced'
  readonly created_at: string
}

export interface OrganizationNumbers {
  /** False: decisions of the last moments may not be counted yet */
  readonly up_to_date: boolean
  /** Something was decided, however long ago */
  readonly any: boolean
  /** As asked for */
  readonly days: readonly {
    readonly compliant: number
    readonly denied: number
    readonly latency_ms: {
      readonly p50: number
      readonly p95: number
    } | null
  }[]
  /** 24 of each, one for each hour */
  readonly hours: {
    /** When the first hour begins */
    readonly since: string
    readonly compliant: readonly number[]
    readonly denied: readonly number[]
    readonly p50_ms: readonly (number | null)[]
    readonly p95_ms: readonly (number | null)[]
  }
  /** By rule, the most frequent first; of these, the ones of the first day stand in `later` */
  readonly rules: readonly DecisionTally[]
}

export interface OrganizationSecondFactorRule {
  /** This organization is closed to people without a second factor */
  readonly required: boolean
  /** The deployment requires a second factor everywhere */
  readonly required_everywhere: boolean
}

export interface OrganizationSettings {
  /** Whether changes of who gets signed for need a second person */
  readonly second_person: boolean
}

export interface Overview {
  readonly reviews: {
    readonly waiting: number
    /** False: there are more */
    readonly exact: boolean
    readonly oldest_at: string | null
  }
  /** Each once; test sessions are left out */
  readonly verified: {
    readonly people: number
    readonly businesses: number
    /** False: only the newest sessions were counted */
    readonly exact: boolean
  }
  /** Hits on people and businesses that are verified */
  readonly hits: {
    /** Completed sessions with an open hit */
    readonly verified: number
    /** False: there are more */
    readonly exact: boolean
  }
  /** What there has to be before the first attestation */
  readonly first_steps: {
    /** One is live */
    readonly policy: boolean
    readonly project: {
      readonly id: string
      readonly name: string
    } | null
    /** An attestation key that works */
    readonly key: boolean
  }
  /** Changes that wait for a second person */
  readonly approvals: number
  /** Active keys that expire within 30 days, the earliest first */
  readonly keys: readonly {
    readonly id: string
    readonly name: string
    readonly expires_at: string
  }[]
  /** Lists whose source missed two reads or failed at the last one */
  readonly lists: readonly {
    readonly name: string
    /** `people`: a list of sanctioned people, the deployment’s */
    readonly of: 'addresses' | 'people'
    readonly confirmed_at: string | null
    readonly failure: string | null
  }[]
  readonly webhooks:
    | readonly {
        readonly id: string
        readonly url: string
        readonly failed: number
        readonly since: string
      }[]
    | null
}

export interface OwnOffer {
  readonly id: string
  readonly organization_id: string
  readonly organization_name: string
  /** Each role includes the rights of those after it */
  readonly role: 'organization-admin' | 'reviewer' | 'viewer'
  readonly asked_by_name: string
  readonly created_at: string
  readonly expires_at: string
}

export interface Passkey {
  readonly id: string
  readonly name: string
  readonly created_at: string
  readonly last_used_at: string | null
}

export interface Policy {
  readonly id: string
  /** `policy_name` of the answers */
  readonly name: string
  /** What the policy decides; fixed by its first document */
  readonly decides: 'requests' | 'sessions'
  /** The active revision, which decides */
  readonly active_revision_id: string | null
  /** The shadow revision, evaluated beside the active one; its verdicts are recorded only */
  readonly shadow_revision_id: string | null
  readonly revisions: number
  /** Increases when the name, the active or the shadow revision changes */
  readonly version: number
  readonly created_at: string
}

export interface PolicyIssue {
  readonly line: number
  readonly column: number
  readonly message: string
  /** JSON pointer to the place in the document */
  readonly pointer: string
}

export interface PolicyTemplate {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly source: string
}

export interface Pool {
  readonly processes: {
    /** They answer */
    readonly ready: number
    /** As asked for; `ready` follows within seconds */
    readonly wanted: number
    /** As many as can be asked for: 1 where the system can’t share a port */
    readonly max: number
    readonly each: readonly Process[]
  }
  readonly workers: {
    /** Of all processes, like all that follows */
    readonly live: number
    readonly busy: number
    /** `live` follows within seconds */
    readonly wanted: number
    /** Threads given up that native code keeps alive */
    readonly abandoned: number
    /** As asked for, in each process; 0: the thread that answers signs */
    readonly each: number
  }
  readonly queue: {
    readonly waiting: number
    readonly limit: number
    readonly in_flight: number
  }
  /** A worker’s own time per job, on average */
  readonly mean_service_ms: number
  readonly predicted_wait_ms: number | null
  readonly restarts: {
    readonly crash: number
    readonly hang: number
    readonly start: number
  }
  readonly signer: string
  /** That the system gives this machine’s processes */
  readonly cores: number
}

export interface Process {
  /** From 0; the first serves the dashboard and the portal as well */
  readonly process: number
  readonly pid: number | null
  /** `silent`: it did not answer in time, and is ended and started again if that lasts; `leaving`: it finishes what it has; `down`: it ended and is started again */
  readonly state: 'starting' | 'ready' | 'silent' | 'leaving' | 'down'
  readonly uptime_seconds: number | null
  readonly figures: {
    readonly workers: {
      readonly live: number
      readonly busy: number
      readonly wanted: number
      readonly abandoned: number
    }
    readonly queue: {
      readonly waiting: number
      readonly limit: number
      readonly in_flight: number
    }
    readonly decisions_per_second: number
    /** CPU time over the time between the last two looks */
    readonly cpu_cores: number
    readonly event_loop_p99_ms: number | null
    readonly memory_bytes: number
  } | null
}

export interface Project {
  readonly id: string
  readonly name: string
  /** The policy id of its contracts; part of what is signed */
  readonly verification_hash: string
  readonly policy_id: string
  /** False: its policy has no active revision, and every request for the project is refused. Activate one */
  readonly policy_active: boolean
  /** How long an attestation is valid, seconds */
  readonly lifetime_seconds: number
  readonly created_at: string
}

export interface Revision {
  readonly id: string
  readonly policy_id: string
  readonly number: number
  /** SHA-256 of the document */
  readonly content_hash: string
  /** v1: how many attester keys sign */
  readonly quorum: number
  readonly active: boolean
  readonly shadow: boolean
  readonly created_at: string
}

export interface RevisionWithSource {
  readonly id: string
  readonly policy_id: string
  readonly number: number
  /** SHA-256 of the document */
  readonly content_hash: string
  /** v1: how many attester keys sign */
  readonly quorum: number
  readonly active: boolean
  readonly shadow: boolean
  readonly created_at: string
  readonly source: string
}

export interface RuleOutcome {
  readonly id: string
  readonly kind: 'allow' | 'deny' | 'require' | 'review'
  /** Value of the rule’s expression; null when it fails */
  readonly value: boolean | null
  readonly decisive: boolean
  /** No rule before it ended the evaluation */
  readonly reached: boolean
  readonly failure: string | null
}

export interface SavedRevision {
  readonly id: string
  readonly policy_id: string
  readonly number: number
  /** SHA-256 of the document */
  readonly content_hash: string
  /** v1: how many attester keys sign */
  readonly quorum: number
  readonly active: boolean
  readonly shadow: boolean
  readonly created_at: string
  /** What is likely not meant, with what probably is. It keeps nothing from being saved */
  readonly warnings: readonly PolicyIssue[]
}

export interface ScreeningList {
  readonly name: string
  readonly title: string | null
  readonly format: 'ofac-csv' | 'un-xml' | 'eu-xml' | 'uk-xml' | 'csv' | 'json'
  /** Where it is fetched from; empty: it is filled by file */
  readonly hosts: readonly string[]
  readonly every_seconds: number
  /** 0 until it was read for the first time */
  readonly entries: number
  readonly names: number
  readonly version: string | null
  readonly changed_at: string | null
  /** When it was last read and found good */
  readonly confirmed_at: string | null
  readonly age_seconds: number | null
  readonly attempted_at: string | null
  /** Why the last attempt failed; the content before it stays */
  readonly failure: string | null
}

export interface ScreeningSettings {
  /** Lowest score of a hit on a name */
  readonly threshold: number
  /** What a new hit does to a session that is completed. `review`: it stays so and waits for a look. `retry`: it goes back to its person. `revoke`: it is rejected, for good */
  readonly on_new_hit: 'review' | 'retry' | 'revoke'
  /** Lists that wallets are looked up in; null: the shared ones of sanctioned people and the organization’s `deny` */
  readonly address_lists: readonly string[] | null
  /** Screeners that are asked about wallets; null: all that are configured */
  readonly screeners: readonly string[] | null
  /** From which score of a screener on a wallet is a hit that it does not flag; null: only flagged ones are */
  readonly screener_score: number | null
  /** Screeners are asked about verified wallets, too, when a list of sanctioned people changes */
  readonly screeners_again: boolean
  /** Whether the threshold is the service’s own */
  readonly is_default: boolean
}

export interface SecondFactorRule {
  /** People without a second factor can only add one */
  readonly required: boolean
}

export interface Session {
  readonly id: string
  readonly type: 'individual' | 'business'
  readonly status: 'pending' | 'submitted' | 'completed' | 'rejected' | 'retry'
  readonly environment: 'live' | 'test'
  readonly level: 'basic' | 'standard' | 'enhanced'
  /** Who decides */
  readonly provider: string
  /** The only wallet that may connect */
  readonly wallet_address: string | null
  readonly origin_url: string | null
  readonly user_id: string | null
  readonly retry_count: number
  readonly public_comment: string | null
  /** Increases with every change; a decision sends the one it saw */
  readonly sequence: number
  /** On lists, by what was decided: a session with an open one can’t be completed */
  readonly hits: {
    readonly open: number
    readonly cleared: number
    readonly confirmed: number
  }
  /** Account of the reviewer */
  readonly assigned_to: string | null
  /** Increases with every assignment; an assignment sends the one it saw */
  readonly assignment_version: number
  readonly created_at: string
  /** When the session was last handed in */
  readonly submitted_at: string | null
  readonly completed_at: string | null
}

export interface SessionDetail {
  readonly id: string
  readonly type: 'individual' | 'business'
  readonly status: 'pending' | 'submitted' | 'completed' | 'rejected' | 'retry'
  readonly environment: 'live' | 'test'
  readonly level: 'basic' | 'standard' | 'enhanced'
  /** Who decides */
  readonly provider: string
  /** The only wallet that may connect */
  readonly wallet_address: string | null
  readonly origin_url: string | null
  readonly user_id: string | null
  readonly retry_count: number
  readonly public_comment: string | null
  /** Increases with every change; a decision sends the one it saw */
  readonly sequence: number
  /** On lists, by what was decided: a session with an open one can’t be completed */
  readonly hits: {
    readonly open: number
    readonly cleared: number
    readonly confirmed: number
  }
  /** Account of the reviewer */
  readonly assigned_to: string | null
  /** Increases with every assignment; an assignment sends the one it saw */
  readonly assignment_version: number
  readonly created_at: string
  /** When the session was last handed in */
  readonly submitted_at: string | null
  readonly completed_at: string | null
  /** The person’s: two letters, of the text that they agreed to; null before they have */
  readonly language: string | null
  readonly wallets: readonly {
    readonly id: string
    readonly chain: string
    readonly address: string
    readonly connected_at: string
    /** The signed message that connected the wallet */
    readonly proof: {
      readonly kind: 'eip191' | 'erc1271' | 'siws' | 'sandbox'
      readonly message: string
      readonly signature: string
      readonly proved_at: string
    } | null
  }[]
  readonly events: readonly {
    readonly sequence: number
    readonly kind: string
    readonly status: 'pending' | 'submitted' | 'completed' | 'rejected' | 'retry'
    readonly actor: string
    readonly key_name: string | null
    readonly policy_name: string | null
    readonly public_comment: string | null
    readonly private_comment: string | null
    readonly at: string
  }[]
}

export interface SessionLink {
  readonly session_id: string
  /** Opens the verification page, only in the first browser that opens it */
  readonly url: string
}

export interface SessionPolicy {
  /** Null: people decide */
  readonly policy_id: string | null
  readonly name: string | null
  /** Number of the revision that decides; null: none is active, and people decide */
  readonly revision: number | null
}

export interface SessionPolicyDecision {
  /** The session’s sequence number when it was decided */
  readonly sequence: number
  readonly policy_id: string
  readonly policy_name: string
  /** Null: no revision was active */
  readonly decided: {
    readonly revision_id: string
    /** Its number */
    readonly revision: number
    /** `review`: it was left to a person */
    readonly outcome: 'completed' | 'rejected' | 'review'
    /** The one that decided or failed; null: none decided */
    readonly rule: string | null
    /** Why it was left to a person, where no rule says so */
    readonly problem: string | null
  } | null
  readonly code: string | null
  /** Evaluated beside it, and of no effect */
  readonly shadow: {
    readonly revision_id: string
    /** Its number */
    readonly revision: number
    /** `review`: it was left to a person */
    readonly outcome: 'completed' | 'rejected' | 'review'
    /** The one that decided or failed; null: none decided */
    readonly rule: string | null
    /** Why it was left to a person, where no rule says so */
    readonly problem: string | null
  } | null
  readonly at: string
}

export interface SessionSimulation {
  /** `review`: it would be left to a person */
  readonly outcome: 'completed' | 'rejected' | 'review'
  /** The one that decided or failed; null: none decided */
  readonly rule: string | null
  readonly code: string | null
  /** What the person would read */
  readonly message: string | null
  /** Why it would be left to a person, where no rule says so */
  readonly problem: string | null
  readonly rules: readonly RuleOutcome[]
  /** By name, as rules read them; null: it can’t be had */
  readonly facts: Readonly<Record<string, unknown>>
}

export interface ShadowResults {
  readonly revision_id: string | null
  readonly same: number
  /** Another verdict, or the same verdict by another rule */
  readonly different: number
  /** The evaluation would have failed */
  readonly failed: number
  /** False: there are more; the count stopped early */
  readonly exact: boolean
  /** For a policy that decides sessions: its results */
  readonly sessions: {
    readonly completed: number
    readonly rejected: number
    readonly left: number
    /** The newest that would have come out otherwise, a hundred at most */
    readonly otherwise: readonly {
      readonly session_id: string
      /** Null: no revision was active */
      readonly decided: 'completed' | 'rejected' | 'review' | null
      /** `review`: left to a person */
      readonly shadow: 'completed' | 'rejected' | 'review'
    }[]
  } | null
}

export interface SignedIn {
  /** False: the second factor has to follow, and the cookie allows nothing else */
  readonly signed_in: boolean
  /** Second factors that can complete the sign-in */
  readonly second_factors: readonly ('totp' | 'recovery-code' | 'passkey')[]
}

export interface Simulation {
  readonly verdict: 'compliant' | 'denied' | null
  /** The one that decided; null: the default. `list:deny` and `list:allow` are the organization’s own lists */
  readonly rule: string | null
  readonly code: string | null
  readonly message: string | null
  /** Why there is no verdict: such a request is answered 503 */
  readonly failure: string | null
  /** Missing request fields that a rule reads; a real request would be answered 400 */
  readonly missing: readonly string[]
  readonly rules: readonly RuleOutcome[]
  /** Facts beside the request */
  readonly facts: Readonly<Record<string, unknown>>
  /** Screeners and reads that are only asked for an organization admin; give their answers in `facts` */
  readonly unasked: readonly string[]
}

export interface ThresholdTrial {
  /** The organization’s threshold now */
  readonly threshold: number
  /** Number of compared sessions: the newest that were handed in or completed */
  readonly sessions: number
  /** Whether these are all sessions */
  readonly exact: boolean
  /** Sessions whose names can’t be read */
  readonly unread: number
  readonly counts: readonly {
    readonly threshold: number
    readonly hits: number
    readonly sessions: number
  }[]
  /** The highest score first, at most 500 */
  readonly names: readonly {
    readonly session_id: string
    /** Whose name it resembles: `person`, `business`, or `owner 1` */
    readonly subject: string
    readonly list: string
    readonly entry: string
    /** The listed name that resembles */
    readonly name: string
    readonly score: number
    /** null: not a hit at the present threshold */
    readonly state: 'open' | 'cleared' | 'confirmed' | null
  }[]
}

export interface UploadedList {
  /** False: some lines are bad, and nothing was changed */
  readonly applied: boolean
  /** Entries of the list now */
  readonly entries: number
  /** Entries read from the file */
  readonly read: number
  readonly bad_line_count: number
  /** The first hundred */
  readonly bad_lines: readonly {
    readonly line: number
    readonly problem: string
  }[]
  /** Number of addresses of unsupported chains */
  readonly skipped: Readonly<Record<string, number>>
}

export interface User {
  readonly id: string
  readonly email: string
  readonly name: string
  readonly deployment_admin: boolean
  readonly has_password: boolean
  readonly has_totp: boolean
  readonly created_at: string
  readonly disabled_at: string | null
}

export interface UserSession {
  readonly id: string
  /** The session of this request */
  readonly current: boolean
  readonly user_agent: string
  readonly address: string
  readonly created_at: string
  /** Within a minute */
  readonly last_seen_at: string
  readonly expires_at: string
}

export interface VerificationTrust {
  /** Whose completed, shared verifications at the organization’s level verify a wallet here, beside its own */
  readonly trusts: 'all' | 'listed' | 'none'
  /** The listed organizations; empty for `all` and `none` */
  readonly organizations: readonly {
    readonly id: string
    readonly slug: string
    readonly name: string
  }[]
}

export interface WebhookEndpoint {
  readonly id: string
  readonly url: string
  /** Whether it receives events of sessions of live keys or of test keys */
  readonly environment: 'live' | 'test'
  /** `events` is told of every change; `decisions` is asked to decide what is handed in, in place of reviewers */
  readonly purpose: 'events' | 'decisions'
  readonly created_at: string
  /** Until then messages are signed with the old secret as well */
  readonly old_secret_until: string | null
  /** Verification service whose webhooks decide as well */
  readonly service: 'sumsub' | 'persona' | 'veriff' | null
  /** Path on the API’s address to which the service sends its webhooks */
  readonly service_path: string | null
}

export interface WebhookMessage {
  /** The `webhook-id` of every attempt */
  readonly id: string
  readonly endpoint_id: string
  readonly session_id: string
  /** Sequence number of the session’s change */
  readonly sequence: number
  readonly type: string
  /** dead: no attempt succeeded; resend it */
  readonly state: 'waiting' | 'delivered' | 'dead'
  readonly attempts: number
  /** HTTP status of the last attempt’s answer */
  readonly last_status: number | null
  readonly last_failure: string | null
  readonly created_at: string
  /** null once it is delivered or dead */
  readonly next_attempt_at: string | null
  readonly settled_at: string | null
}

/** By method and path. */
export interface Operations {
  'GET /sign-in': {
    params: None
    query: None
    body: undefined
    answer: {
      readonly has_accounts: boolean
    }
  }
  'POST /sign-in': {
    params: None
    query: None
    body: {
      /** Email address, in any case */
      readonly email: string
      /** 12 to 256 characters */
      readonly password: string
    }
    answer: SignedIn
  }
  'POST /sign-in/code': {
    params: None
    query: None
    body: {
      /** Six digits, or a recovery code */
      readonly code: string
    }
    answer: SignedIn
  }
  'POST /sign-in/passkey/options': {
    params: None
    query: None
    body: None | undefined
    answer: {
      readonly challenge_id: string
      /** Options for navigator.credentials, as JSON */
      readonly options: Readonly<Record<string, unknown>>
    }
  }
  'POST /sign-in/passkey': {
    params: None
    query: None
    body: {
      readonly challenge_id: string
      /** What navigator.credentials answered, as JSON (Web Authentication, level 3: PublicKeyCredential.toJSON) */
      readonly credential: Readonly<Record<string, unknown>>
    }
    answer: SignedIn
  }
  'POST /sign-out': {
    params: None
    query: None
    body: None | undefined
    answer: undefined
  }
  'POST /welcome/check': {
    params: None
    query: None
    body: {
      readonly token: string
    }
    answer: {
      readonly purpose: 'first-admin' | 'invitation' | 'recovery'
      readonly email: string | null
      readonly expires_at: string
    }
  }
  'POST /welcome': {
    params: None
    query: None
    body: {
      readonly token: string
      /** 12 to 256 characters */
      readonly password: string
      /** For the first account */
      readonly name?: string | undefined
      /** Email address, in any case */
      readonly email?: string | undefined
    }
    answer: SignedIn
  }
  'GET /me': {
    params: None
    query: None
    body: undefined
    answer: Account
  }
  'PATCH /me': {
    params: None
    query: None
    body: {
      /** As colleagues see it */
      readonly name: string
    }
    answer: undefined
  }
  'PUT /me/password': {
    params: None
    query: None
    body: {
      /** 12 to 256 characters */
      readonly current_password: string
      /** 12 to 256 characters */
      readonly new_password: string
    }
    answer: undefined
  }
  'POST /me/confirm': {
    params: None
    query: None
    body: {
      /** 12 to 256 characters */
      readonly password: string
    }
    answer: undefined
  }
  'POST /me/confirm/passkey/options': {
    params: None
    query: None
    body: None | undefined
    answer: {
      readonly challenge_id: string
      /** Options for navigator.credentials, as JSON */
      readonly options: Readonly<Record<string, unknown>>
    }
  }
  'POST /me/confirm/passkey': {
    params: None
    query: None
    body: {
      readonly challenge_id: string
      /** What navigator.credentials answered, as JSON (Web Authentication, level 3: PublicKeyCredential.toJSON) */
      readonly credential: Readonly<Record<string, unknown>>
    }
    answer: undefined
  }
  'GET /me/sessions': {
    params: None
    query: None
    body: undefined
    answer: {
      readonly data: readonly UserSession[]
    }
  }
  'DELETE /me/sessions': {
    params: None
    query: None
    body: undefined
    answer: {
      readonly ended: number
    }
  }
  'DELETE /me/sessions/{session}': {
    params: { readonly session: string }
    query: None
    body: undefined
    answer: undefined
  }
  'POST /me/totp': {
    params: None
    query: None
    body: None | undefined
    answer: {
      /** Base32, to be typed in by hand */
      readonly secret: string
      /** What the app reads from a QR code */
      readonly uri: string
    }
  }
  'POST /me/totp/confirm': {
    params: None
    query: None
    body: {
      readonly code: string
    }
    answer: {
      readonly recovery_codes: readonly string[]
    }
  }
  'POST /me/totp/remove': {
    params: None
    query: None
    body: None | undefined
    answer: undefined
  }
  'GET /me/passkeys': {
    params: None
    query: None
    body: undefined
    answer: {
      readonly data: readonly Passkey[]
    }
  }
  'POST /me/passkeys': {
    params: None
    query: None
    body: {
      readonly challenge_id: string
      /** As its owner calls it */
      readonly name: string
      /** What navigator.credentials answered, as JSON (Web Authentication, level 3: PublicKeyCredential.toJSON) */
      readonly credential: Readonly<Record<string, unknown>>
    }
    answer: Passkey
  }
  'POST /me/passkeys/options': {
    params: None
    query: None
    body: None | undefined
    answer: {
      readonly challenge_id: string
      /** Options for navigator.credentials, as JSON */
      readonly options: Readonly<Record<string, unknown>>
    }
  }
  'DELETE /me/passkeys/{passkey}': {
    params: { readonly passkey: string }
    query: None
    body: undefined
    answer: undefined
  }
  'GET /organizations': {
    params: None
    query: { readonly limit?: number | undefined; readonly cursor?: string | undefined }
    body: undefined
    answer: {
      readonly data: readonly Organization[]
      /** Send it as `cursor` for the next page; null on the last. */
      readonly next_cursor: string | null
    }
  }
  'POST /organizations': {
    params: None
    query: None
    body: {
      /** Short name, unique in the deployment */
      readonly slug: string
      /** As people read it */
      readonly name: string
      /** How closely people and businesses are checked; a wallet verified at a lower one is not verified */
      readonly level?: 'basic' | 'standard' | 'enhanced' | undefined
      /** Also issues its first admin key: keys stay in their organization, this one’s too */
      readonly admin_key?: boolean | undefined
    }
    answer: CreatedOrganization
  }
  'GET /organizations/{organization}': {
    params: { readonly organization: string }
    query: None
    body: undefined
    answer: Organization
  }
  'PATCH /organizations/{organization}': {
    params: { readonly organization: string }
    query: { readonly comment?: string | undefined }
    body: {
      /** As people read it */
      readonly name?: string | undefined
      /** How closely people and businesses are checked; a wallet verified at a lower one is not verified */
      readonly level?: 'basic' | 'standard' | 'enhanced' | undefined
    }
    answer: Organization | Approval
  }
  'GET /organizations/{organization}/settings': {
    params: { readonly organization: string }
    query: None
    body: undefined
    answer: OrganizationSettings
  }
  'PATCH /organizations/{organization}/settings': {
    params: { readonly organization: string }
    query: { readonly comment?: string | undefined }
    body: {
      readonly second_person: boolean
    }
    answer: OrganizationSettings | Approval
  }
  'GET /organizations/{organization}/overview': {
    params: { readonly organization: string }
    query: None
    body: undefined
    answer: Overview
  }
  'GET /organizations/{organization}/brand': {
    params: { readonly organization: string }
    query: None
    body: undefined
    answer: Brand
  }
  'PATCH /organizations/{organization}/brand': {
    params: { readonly organization: string }
    query: None
    body: {
      readonly color?: string | null | undefined
      /** PNG, JPEG or WebP of at most 256 KiB, as base64; null: none */
      readonly logo?: string | null | undefined
      readonly privacy_url?: string | null | undefined
      readonly support_email?: string | null | undefined
      readonly words_en?: string | null | undefined
      readonly words_de?: string | null | undefined
    }
    answer: Brand
  }
  'GET /organizations/{organization}/brand/logo': {
    params: { readonly organization: string }
    query: { readonly version?: string | undefined }
    body: undefined
    answer: Response
  }
  'GET /organizations/{organization}/evidence-retention': {
    params: { readonly organization: string }
    query: None
    body: undefined
    answer: EvidenceRetention
  }
  'PATCH /organizations/{organization}/evidence-retention': {
    params: { readonly organization: string }
    query: None
    body: {
      readonly completed_days?: number | undefined
      readonly rejected_days?: number | undefined
      /** Days after the last step of a session that was never handed in */
      readonly abandoned_days?: number | undefined
    }
    answer: EvidenceRetention
  }
  'GET /organizations/{organization}/verification-trust': {
    params: { readonly organization: string }
    query: None
    body: undefined
    answer: VerificationTrust
  }
  'PUT /organizations/{organization}/verification-trust': {
    params: { readonly organization: string }
    query: { readonly comment?: string | undefined }
    body: {
      readonly trusts: 'all' | 'listed' | 'none'
      /** For `listed`: ids, or short names of organizations that the caller may see */
      readonly organizations?: readonly string[] | undefined
    }
    answer: VerificationTrust | Approval
  }
  'GET /organizations/{organization}/session-policy': {
    params: { readonly organization: string }
    query: None
    body: undefined
    answer: SessionPolicy
  }
  'PUT /organizations/{organization}/session-policy': {
    params: { readonly organization: string }
    query: { readonly comment?: string | undefined }
    body: {
      readonly policy_id: string | null
    }
    answer: SessionPolicy | Approval
  }
  'GET /organizations/{organization}/sessions/{session}/policy-decisions': {
    params: { readonly organization: string; readonly session: string }
    query: None
    body: undefined
    answer: {
      readonly items: readonly SessionPolicyDecision[]
    }
  }
  'POST /organizations/{organization}/sessions/{session}/policy-decisions/facts': {
    params: { readonly organization: string; readonly session: string }
    query: None
    body: None | undefined
    answer: {
      readonly items: readonly {
        readonly sequence: number
        /** By name, as rules read them; null: it could not be had */
        readonly facts: Readonly<Record<string, unknown>>
      }[]
    }
  }
  'POST /organizations/{organization}/sessions/{session}/simulate': {
    params: { readonly organization: string; readonly session: string }
    query: None
    body:
      | {
          /** The document, YAML or JSON */
          readonly source?: string | undefined
          readonly revision_id?: string | undefined
        }
      | undefined
    answer: SessionSimulation
  }
  'GET /organizations/{organization}/second-factor-rule': {
    params: { readonly organization: string }
    query: None
    body: undefined
    answer: OrganizationSecondFactorRule
  }
  'PUT /organizations/{organization}/second-factor-rule': {
    params: { readonly organization: string }
    query: None
    body: SecondFactorRule
    answer: OrganizationSecondFactorRule
  }
  'GET /deployment/second-factor-rule': {
    params: None
    query: None
    body: undefined
    answer: SecondFactorRule
  }
  'PUT /deployment/second-factor-rule': {
    params: None
    query: None
    body: SecondFactorRule
    answer: SecondFactorRule
  }
  'GET /organizations/{organization}/members': {
    params: { readonly organization: string }
    query: { readonly limit?: number | undefined; readonly cursor?: string | undefined }
    body: undefined
    answer: {
      readonly data: readonly Member[]
      /** Send it as `cursor` for the next page; null on the last. */
      readonly next_cursor: string | null
    }
  }
  'POST /organizations/{organization}/members': {
    params: { readonly organization: string }
    query: { readonly comment?: string | undefined }
    body: {
      /** Email address, in any case */
      readonly email: string
      /** As colleagues see it; of use for a new account only */
      readonly name: string
      /** Each role includes the rights of those after it */
      readonly role: 'organization-admin' | 'reviewer' | 'viewer'
    }
    answer:
      | {
          readonly member: Member | null
          readonly invitation: OneTimeLink | null
          readonly offer: MemberOffer | null
          readonly acceptance: OneTimeLink | null
        }
      | Approval
  }
  'PATCH /organizations/{organization}/members/{user}': {
    params: { readonly organization: string; readonly user: string }
    query: { readonly comment?: string | undefined }
    body: {
      /** Each role includes the rights of those after it */
      readonly role: 'organization-admin' | 'reviewer' | 'viewer'
    }
    answer: Member | Approval
  }
  'DELETE /organizations/{organization}/members/{user}': {
    params: { readonly organization: string; readonly user: string }
    query: { readonly comment?: string | undefined }
    body: undefined
    answer: Approval | undefined
  }
  'POST /organizations/{organization}/members/{user}/invitation': {
    params: { readonly organization: string; readonly user: string }
    query: { readonly comment?: string | undefined }
    body: None | undefined
    answer: OneTimeLink | Approval
  }
  'GET /users': {
    params: None
    query: { readonly limit?: number | undefined; readonly cursor?: string | undefined }
    body: undefined
    answer: {
      readonly data: readonly User[]
      /** Send it as `cursor` for the next page; null on the last. */
      readonly next_cursor: string | null
    }
  }
  'POST /users': {
    params: None
    query: { readonly comment?: string | undefined }
    body: {
      /** Email address, in any case */
      readonly email: string
      /** As colleagues see it */
      readonly name: string
      readonly deployment_admin: boolean
    }
    answer:
      | {
          readonly user: User
          readonly invitation: OneTimeLink | null
        }
      | Approval
  }
  'PATCH /users/{user}': {
    params: { readonly user: string }
    query: { readonly comment?: string | undefined }
    body: {
      readonly deployment_admin?: boolean | undefined
      readonly disabled?: boolean | undefined
    }
    answer: User | Approval
  }
  'POST /users/{user}/recovery': {
    params: { readonly user: string }
    query: None
    body:
      | {
          readonly remove_second_factors?: boolean | undefined
        }
      | undefined
    answer: OneTimeLink
  }
  'DELETE /users/{user}/sessions': {
    params: { readonly user: string }
    query: None
    body: undefined
    answer: {
      readonly ended: number
    }
  }
  'GET /organizations/{organization}/member-offers': {
    params: { readonly organization: string }
    query: { readonly limit?: number | undefined; readonly cursor?: string | undefined }
    body: undefined
    answer: {
      readonly data: readonly MemberOffer[]
      /** Send it as `cursor` for the next page; null on the last. */
      readonly next_cursor: string | null
    }
  }
  'PATCH /organizations/{organization}/member-offers/{offer}': {
    params: { readonly organization: string; readonly offer: string }
    query: { readonly comment?: string | undefined }
    body: {
      /** Each role includes the rights of those after it */
      readonly role: 'organization-admin' | 'reviewer' | 'viewer'
    }
    answer: MemberOffer | Approval
  }
  'DELETE /organizations/{organization}/member-offers/{offer}': {
    params: { readonly organization: string; readonly offer: string }
    query: None
    body: undefined
    answer: undefined
  }
  'POST /organizations/{organization}/member-offers/{offer}/link': {
    params: { readonly organization: string; readonly offer: string }
    query: None
    body: None | undefined
    answer: OneTimeLink
  }
  'GET /me/offers': {
    params: None
    query: None
    body: undefined
    answer: {
      readonly data: readonly OwnOffer[]
    }
  }
  'POST /me/offers/{offer}/accept': {
    params: { readonly offer: string }
    query: None
    body: {
      readonly code: string
    }
    answer: undefined
  }
  'POST /me/offers/{offer}/decline': {
    params: { readonly offer: string }
    query: None
    body: None | undefined
    answer: undefined
  }
  'GET /organizations/{organization}/keys': {
    params: { readonly organization: string }
    query: {
      readonly limit?: number | undefined
      readonly cursor?: string | undefined
      readonly kind?: 'attestation' | 'identity' | 'admin' | undefined
    }
    body: undefined
    answer: {
      readonly data: readonly ApiKey[]
      /** Send it as `cursor` for the next page; null on the last. */
      readonly next_cursor: string | null
    }
  }
  'POST /organizations/{organization}/keys': {
    params: { readonly organization: string }
    query: None
    body: {
      /** What it is for */
      readonly name: string
      /** What the key is for */
      readonly kind: 'attestation' | 'identity' | 'admin'
      /** Test keys see identity sessions of test keys only */
      readonly environment?: 'live' | 'test' | undefined
      readonly expires_at?: string | null | undefined
      /** Null: none. Left out: 1000/s with bursts of 2000 */
      readonly rate_limit?:
        | {
            readonly requests_per_second: number
            /** Largest burst of requests */
            readonly burst: number
          }
        | null
        | undefined
      readonly deployment?: boolean | undefined
    }
    answer: {
      /** The key itself, which is not stored: shown this once, null when the request is repeated */
      readonly key: string | null
      readonly record: ApiKey
    }
  }
  'GET /organizations/{organization}/keys/{key}': {
    params: { readonly organization: string; readonly key: string }
    query: None
    body: undefined
    answer: ApiKey
  }
  'POST /organizations/{organization}/keys/{key}/regenerate': {
    params: { readonly organization: string; readonly key: string }
    query: None
    body:
      | {
          /** A day unless given; 0 ends the old key now */
          readonly overlap_seconds?: number | undefined
        }
      | undefined
    answer: {
      /** The key itself, which is not stored: shown this once, null when the request is repeated */
      readonly key: string | null
      readonly record: ApiKey
      readonly previous: ApiKey
    }
  }
  'POST /organizations/{organization}/keys/{key}/revoke': {
    params: { readonly organization: string; readonly key: string }
    query: None
    body: None | undefined
    answer: ApiKey
  }
  'GET /organizations/{organization}/projects': {
    params: { readonly organization: string }
    query: {
      readonly limit?: number | undefined
      readonly cursor?: string | undefined
      readonly policy_id?: string | undefined
    }
    body: undefined
    answer: {
      readonly data: readonly Project[]
      /** Send it as `cursor` for the next page; null on the last. */
      readonly next_cursor: string | null
    }
  }
  'POST /organizations/{organization}/projects': {
    params: { readonly organization: string }
    query: { readonly comment?: string | undefined }
    body: {
      /** As people read it */
      readonly name: string
      readonly policy_id: string
      /** How long an attestation is valid, seconds */
      readonly lifetime_seconds?: number | undefined
      /** Only to keep a hash that contracts already have */
      readonly verification_hash?: string | undefined
    }
    answer: Project | Approval
  }
  'GET /organizations/{organization}/projects/{project}': {
    params: { readonly organization: string; readonly project: string }
    query: None
    body: undefined
    answer: Project
  }
  'PATCH /organizations/{organization}/projects/{project}': {
    params: { readonly organization: string; readonly project: string }
    query: { readonly comment?: string | undefined }
    body: {
      /** As people read it */
      readonly name?: string | undefined
      readonly policy_id?: string | undefined
      /** How long an attestation is valid, seconds */
      readonly lifetime_seconds?: number | undefined
    }
    answer: Project | Approval
  }
  'GET /organizations/{organization}/projects/{project}/try': {
    params: { readonly organization: string; readonly project: string }
    query: None
    body: undefined
    answer: {
      readonly verification_hash: string
      /** Request fields that the live revision of its policy asks of every caller */
      readonly requires: readonly string[]
    }
  }
  'POST /organizations/{organization}/projects/{project}/try': {
    params: { readonly organization: string; readonly project: string }
    query: None
    body: {
      /** An attestation key; not stored and not logged */
      readonly api_key: string
      readonly request: {
        readonly chain?: string | undefined
        readonly from?: string | undefined
        readonly to?: string | undefined
        readonly data?: string | undefined
        readonly msg_value?: string | undefined
        readonly user_ip?: string | undefined
        readonly on_behalf?: string | undefined
      }
    }
    answer: {
      /** HTTP status of the answer */
      readonly status: number
      readonly milliseconds: number
      /** The answer’s body */
      readonly body: unknown
    }
  }
  'GET /organizations/{organization}/bindings': {
    params: { readonly organization: string }
    query: {
      readonly limit?: number | undefined
      readonly cursor?: string | undefined
      readonly project_id?: string | undefined
      readonly chain?: string | undefined
    }
    body: undefined
    answer: {
      readonly data: readonly Binding[]
      /** Send it as `cursor` for the next page; null on the last. */
      readonly next_cursor: string | null
    }
  }
  'POST /organizations/{organization}/bindings': {
    params: { readonly organization: string }
    query: { readonly comment?: string | undefined }
    body: {
      readonly project_id: string
      /** A chain’s name, for example base or solana */
      readonly chain: string
      readonly address: string
      /** What people call the contract or program, for example `Router` */
      readonly label?: string | undefined
    }
    answer: Binding | Approval
  }
  'PATCH /organizations/{organization}/bindings/{binding}': {
    params: { readonly organization: string; readonly binding: string }
    query: None
    body: {
      readonly label: string | null
    }
    answer: Binding
  }
  'DELETE /organizations/{organization}/bindings/{binding}': {
    params: { readonly organization: string; readonly binding: string }
    query: { readonly comment?: string | undefined }
    body: undefined
    answer: Approval | undefined
  }
  'GET /organizations/{organization}/policies': {
    params: { readonly organization: string }
    query: { readonly limit?: number | undefined; readonly cursor?: string | undefined }
    body: undefined
    answer: {
      readonly data: readonly Policy[]
      /** Send it as `cursor` for the next page; null on the last. */
      readonly next_cursor: string | null
    }
  }
  'POST /organizations/{organization}/policies': {
    params: { readonly organization: string }
    query: None
    body: {
      /** The document, YAML or JSON */
      readonly source: string
    }
    answer: {
      readonly policy: Policy
      readonly revision: Revision
      /** What is likely not meant, with what probably is. It keeps nothing from being saved */
      readonly warnings: readonly PolicyIssue[]
    }
  }
  'GET /organizations/{organization}/policies/{policy}': {
    params: { readonly organization: string; readonly policy: string }
    query: None
    body: undefined
    answer: Policy
  }
  'GET /organizations/{organization}/policies/{policy}/revisions': {
    params: { readonly organization: string; readonly policy: string }
    query: { readonly limit?: number | undefined; readonly cursor?: string | undefined }
    body: undefined
    answer: {
      readonly data: readonly Revision[]
      /** Send it as `cursor` for the next page; null on the last. */
      readonly next_cursor: string | null
    }
  }
  'POST /organizations/{organization}/policies/{policy}/revisions': {
    params: { readonly organization: string; readonly policy: string }
    query: None
    body: {
      /** The document, YAML or JSON */
      readonly source: string
    }
    answer: SavedRevision
  }
  'GET /organizations/{organization}/policies/{policy}/revisions/{revision}': {
    params: { readonly organization: string; readonly policy: string; readonly revision: string }
    query: None
    body: undefined
    answer: RevisionWithSource
  }
  'GET /organizations/{organization}/policies/{policy}/diff': {
    params: { readonly organization: string; readonly policy: string }
    query: { readonly from: string; readonly to: string }
    body: undefined
    answer: {
      /** In the words of the documents: rules and tests added, removed, changed, reordered */
      readonly differences: readonly Readonly<Record<string, unknown>>[]
    }
  }
  'POST /organizations/{organization}/policies/{policy}/activate': {
    params: { readonly organization: string; readonly policy: string }
    query: { readonly comment?: string | undefined }
    body: {
      readonly revision_id: string
      readonly version?: number | undefined
    }
    answer: Policy | Approval
  }
  'PUT /organizations/{organization}/policies/{policy}/shadow': {
    params: { readonly organization: string; readonly policy: string }
    query: None
    body: {
      readonly revision_id: string | null
      readonly version?: number | undefined
    }
    answer: Policy
  }
  'GET /policy-language': {
    params: None
    query: None
    body: undefined
    answer: {
      readonly facts: readonly {
        readonly name: string
        readonly type: string
        readonly description: string
        /** Kinds of policies that may read it */
        readonly decides: 'requests' | 'sessions'
      }[]
      readonly functions: readonly string[]
      readonly methods: readonly string[]
    }
  }
  'GET /policy-language/schema': {
    params: None
    query: None
    body: undefined
    answer: Readonly<Record<string, unknown>>
  }
  'GET /policy-templates': {
    params: None
    query: None
    body: undefined
    answer: {
      readonly data: readonly PolicyTemplate[]
    }
  }
  'POST /organizations/{organization}/policies/check': {
    params: { readonly organization: string }
    query: None
    body: {
      /** The document, YAML or JSON */
      readonly source: string
    }
    answer: {
      readonly valid: boolean
      readonly issues: readonly PolicyIssue[]
      /** What is likely not meant, with what probably is. It keeps nothing from being saved */
      readonly warnings: readonly PolicyIssue[]
      readonly policy: CheckedPolicy | null
    }
  }
  'POST /organizations/{organization}/policies/simulate': {
    params: { readonly organization: string }
    query: None
    body:
      | {
          /** The document, YAML or JSON */
          readonly source?: string | undefined
          readonly revision_id?: string | undefined
          readonly request?:
            | {
                readonly chain?: string | undefined
                /** The end user’s wallet */
                readonly from?: string | undefined
                /** The user whom `from` represents */
                readonly on_behalf?: string | undefined
                /** The contract or program; left out: a project is asked for */
                readonly to?: string | undefined
                /** Call data, 0x-hex */
                readonly data?: string | undefined
                /** Wei or lamports, decimal */
                readonly msg_value?: string | undefined
                readonly user_ip?: string | undefined
                /** ISO 8601; now unless given */
                readonly time?: string | undefined
              }
            | undefined
          /** uuid of a recorded decision */
          readonly decision?: string | undefined
          /** geography, identity, onBehalfIdentity, baseFee, screeners, reads, velocity: as the documents’ own tests have them */
          readonly facts?: Readonly<Record<string, unknown>> | undefined
          readonly lists?:
            | Readonly<
                Record<
                  string,
                  {
                    readonly addresses: readonly string[]
                    readonly age_seconds: number
                  }
                >
              >
            | undefined
        }
      | undefined
    answer: Simulation
  }
  'POST /organizations/{organization}/policies/test': {
    params: { readonly organization: string }
    query: None
    body:
      | {
          /** The document, YAML or JSON */
          readonly source?: string | undefined
          readonly revision_id?: string | undefined
        }
      | undefined
    answer: {
      readonly passed: number
      readonly failed: number
      readonly results: readonly {
        readonly name: string
        readonly failure: string | null
      }[]
    }
  }
  'POST /organizations/{organization}/policies/{policy}/replay': {
    params: { readonly organization: string; readonly policy: string }
    query: None
    body:
      | {
          /** The document, YAML or JSON */
          readonly source?: string | undefined
          readonly revision_id?: string | undefined
          /** ISO 8601; seven days ago unless given, a year for sessions */
          readonly since?: string | undefined
          /** ISO 8601, exclusive; now unless given */
          readonly until?: string | undefined
        }
      | undefined
    answer: Job
  }
  'GET /organizations/{organization}/policies/{policy}/shadow-results': {
    params: { readonly organization: string; readonly policy: string }
    query: { readonly since?: string | undefined }
    body: undefined
    answer: ShadowResults
  }
  'GET /organizations/{organization}/lists': {
    params: { readonly organization: string }
    query: None
    body: undefined
    answer: {
      readonly data: readonly AddressList[]
    }
  }
  'POST /organizations/{organization}/lists': {
    params: { readonly organization: string }
    query: { readonly comment?: string | undefined }
    body: {
      /** a lower-case letter, then up to 63 lower-case letters, digits and underscores */
      readonly name: string
      readonly description?: string | undefined
    }
    answer: AddressList | Approval
  }
  'GET /organizations/{organization}/lists/{list}': {
    params: { readonly organization: string; readonly list: string }
    query: None
    body: undefined
    answer: AddressList
  }
  'DELETE /organizations/{organization}/lists/{list}': {
    params: { readonly organization: string; readonly list: string }
    query: { readonly comment?: string | undefined }
    body: undefined
    answer: Approval | undefined
  }
  'POST /organizations/{organization}/lists/{list}/entries': {
    params: { readonly organization: string; readonly list: string }
    query: { readonly comment?: string | undefined }
    body:
      | {
          readonly add?:
            | readonly {
                readonly address: string
                /** Why the address is in the list */
                readonly memo?: string | undefined
              }[]
            | undefined
          readonly remove?: readonly string[] | undefined
        }
      | undefined
    answer:
      | {
          readonly list: AddressList
          readonly changed: number
        }
      | Approval
  }
  'GET /organizations/{organization}/lists/{list}/entries': {
    params: { readonly organization: string; readonly list: string }
    query: {
      readonly limit?: number | undefined
      readonly cursor?: string | undefined
      readonly search?: string | undefined
    }
    body: undefined
    answer: {
      readonly data: readonly ListEntry[]
      /** Send it as `cursor` for the next page; null on the last. */
      readonly next_cursor: string | null
    }
  }
  'GET /organizations/{organization}/lists/{list}/entries/{address}': {
    params: { readonly organization: string; readonly list: string; readonly address: string }
    query: None
    body: undefined
    answer: {
      readonly address: string
      readonly listed: boolean
      readonly memo: string | null
      readonly author: string | null
      readonly added_at: string | null
    }
  }
  'PUT /organizations/{organization}/lists/{list}/content': {
    params: { readonly organization: string; readonly list: string }
    query: {
      readonly merge?: boolean | undefined
      readonly skip_bad?: boolean | undefined
      readonly comment?: string | undefined
    }
    body: Blob
    answer: UploadedList | Approval
  }
  'GET /organizations/{organization}/lists/{list}/content': {
    params: { readonly organization: string; readonly list: string }
    query: { readonly format?: 'csv' | 'text' | undefined }
    body: undefined
    answer: Response
  }
  'GET /lists': {
    params: None
    query: None
    body: undefined
    answer: {
      readonly data: readonly AddressList[]
    }
  }
  'POST /lists': {
    params: None
    query: { readonly comment?: string | undefined }
    body: {
      /** a lower-case letter, then up to 63 lower-case letters, digits and underscores */
      readonly name: string
      readonly description?: string | undefined
    }
    answer: AddressList | Approval
  }
  'GET /lists/{list}': {
    params: { readonly list: string }
    query: None
    body: undefined
    answer: AddressList
  }
  'DELETE /lists/{list}': {
    params: { readonly list: string }
    query: { readonly comment?: string | undefined }
    body: undefined
    answer: Approval | undefined
  }
  'POST /lists/{list}/entries': {
    params: { readonly list: string }
    query: { readonly comment?: string | undefined }
    body:
      | {
          readonly add?:
            | readonly {
                readonly address: string
                /** Why the address is in the list */
                readonly memo?: string | undefined
              }[]
            | undefined
          readonly remove?: readonly string[] | undefined
        }
      | undefined
    answer:
      | {
          readonly list: AddressList
          readonly changed: number
        }
      | Approval
  }
  'GET /lists/{list}/entries': {
    params: { readonly list: string }
    query: {
      readonly limit?: number | undefined
      readonly cursor?: string | undefined
      readonly search?: string | undefined
    }
    body: undefined
    answer: {
      readonly data: readonly ListEntry[]
      /** Send it as `cursor` for the next page; null on the last. */
      readonly next_cursor: string | null
    }
  }
  'GET /lists/{list}/entries/{address}': {
    params: { readonly list: string; readonly address: string }
    query: None
    body: undefined
    answer: {
      readonly address: string
      readonly listed: boolean
      readonly memo: string | null
      readonly author: string | null
      readonly added_at: string | null
    }
  }
  'PUT /lists/{list}/content': {
    params: { readonly list: string }
    query: {
      readonly merge?: boolean | undefined
      readonly skip_bad?: boolean | undefined
      readonly comment?: string | undefined
    }
    body: Blob
    answer: UploadedList | Approval
  }
  'GET /lists/{list}/content': {
    params: { readonly list: string }
    query: { readonly format?: 'csv' | 'text' | undefined }
    body: undefined
    answer: Response
  }
  'GET /organizations/{organization}/lists/{list}/source': {
    params: { readonly organization: string; readonly list: string }
    query: None
    body: undefined
    answer: ListSource
  }
  'PUT /organizations/{organization}/lists/{list}/source': {
    params: { readonly organization: string; readonly list: string }
    query: { readonly comment?: string | undefined }
    body: {
      readonly url: string
      /** sdn-advanced: the US Treasury’s sdn_advanced.xml */
      readonly format: 'text' | 'csv' | 'sdn-advanced'
      /** A day unless given */
      readonly every_seconds?: number | undefined
      readonly skip_bad_lines?: boolean | undefined
    }
    answer: ListSource | Approval
  }
  'DELETE /organizations/{organization}/lists/{list}/source': {
    params: { readonly organization: string; readonly list: string }
    query: { readonly comment?: string | undefined }
    body: undefined
    answer: Approval | undefined
  }
  'POST /organizations/{organization}/lists/{list}/source/refresh': {
    params: { readonly organization: string; readonly list: string }
    query: None
    body: None | undefined
    answer: ListSource
  }
  'GET /lists/{list}/source': {
    params: { readonly list: string }
    query: None
    body: undefined
    answer: ListSource
  }
  'PUT /lists/{list}/source': {
    params: { readonly list: string }
    query: { readonly comment?: string | undefined }
    body: {
      readonly url: string
      /** sdn-advanced: the US Treasury’s sdn_advanced.xml */
      readonly format: 'text' | 'csv' | 'sdn-advanced'
      /** A day unless given */
      readonly every_seconds?: number | undefined
      readonly skip_bad_lines?: boolean | undefined
      /** Networks that its address may be in */
      readonly reach?: 'public' | 'private' | 'loopback' | undefined
    }
    answer: ListSource | Approval
  }
  'DELETE /lists/{list}/source': {
    params: { readonly list: string }
    query: { readonly comment?: string | undefined }
    body: undefined
    answer: Approval | undefined
  }
  'POST /lists/{list}/source/refresh': {
    params: { readonly list: string }
    query: None
    body: None | undefined
    answer: ListSource
  }
  'GET /organizations/{organization}/sessions': {
    params: { readonly organization: string }
    query: {
      readonly limit?: number | undefined
      readonly cursor?: string | undefined
      readonly status?: 'pending' | 'submitted' | 'completed' | 'rejected' | 'retry' | undefined
      readonly type?: 'individual' | 'business' | undefined
      readonly environment?: 'live' | 'test' | undefined
      readonly level?: 'basic' | 'standard' | 'enhanced' | undefined
      readonly hits?: 'open' | 'cleared' | 'confirmed' | 'none' | undefined
      readonly assigned_to?: string | undefined
      readonly created_before?: string | undefined
      readonly order?: 'newest' | 'oldest' | undefined
    }
    body: undefined
    answer: {
      readonly data: readonly Session[]
      /** Send it as `cursor` for the next page; null on the last. */
      readonly next_cursor: string | null
    }
  }
  'POST /organizations/{organization}/sessions': {
    params: { readonly organization: string }
    query: None
    body: {
      readonly type: 'individual' | 'business'
      readonly environment?: 'live' | 'test' | undefined
      readonly wallet_address?: string | null | undefined
      readonly origin_url?: string | null | undefined
    }
    answer: SessionLink
  }
  'POST /organizations/{organization}/sessions/search': {
    params: { readonly organization: string }
    query: None
    body: {
      readonly text: string
      readonly status?: 'pending' | 'submitted' | 'completed' | 'rejected' | 'retry' | undefined
      readonly type?: 'individual' | 'business' | undefined
      readonly environment?: 'live' | 'test' | undefined
      /** `next_cursor` of the page before. */
      readonly cursor?: string | undefined
    }
    answer: {
      readonly data: readonly Session[]
      readonly next_cursor: string | null
      /** Number of sessions that this page searched */
      readonly searched: number
    }
  }
  'POST /organizations/{organization}/sessions/{session}/link': {
    params: { readonly organization: string; readonly session: string }
    query: None
    body: undefined
    answer: SessionLink
  }
  'GET /organizations/{organization}/sessions/{session}': {
    params: { readonly organization: string; readonly session: string }
    query: None
    body: undefined
    answer: SessionDetail
  }
  'PUT /organizations/{organization}/sessions/{session}/assignment': {
    params: { readonly organization: string; readonly session: string }
    query: None
    body: {
      readonly user_id: string | null
      readonly version: number
    }
    answer: {
      readonly assigned_to: string | null
      readonly assignment_version: number
    }
  }
  'POST /organizations/{organization}/sessions/{session}/decide': {
    params: { readonly organization: string; readonly session: string }
    query: None
    body: {
      readonly status: 'completed' | 'rejected' | 'retry'
      readonly sequence: number
      readonly public_comment?: string | null | undefined
      readonly private_comment?: string | null | undefined
      /** With `retry`: evidence fields and document kinds to be done again, or `wallets` */
      readonly corrections?: readonly string[] | undefined
    }
    answer: SessionDetail
  }
  'POST /organizations/{organization}/sessions/{session}/revoke': {
    params: { readonly organization: string; readonly session: string }
    query: None
    body: {
      readonly status: 'rejected' | 'retry'
      readonly sequence: number
      readonly public_comment?: string | null | undefined
      readonly private_comment?: string | null | undefined
      /** With `retry`: evidence fields and document kinds to be done again, or `wallets` */
      readonly corrections?: readonly string[] | undefined
    }
    answer: SessionDetail
  }
  'GET /screening/lists': {
    params: None
    query: None
    body: undefined
    answer: {
      readonly items: readonly ScreeningList[]
    }
  }
  'PUT /screening/lists/{list}': {
    params: { readonly list: string }
    query: None
    body:
      | {
          readonly format?: 'ofac-csv' | 'un-xml' | 'eu-xml' | 'uk-xml' | 'csv' | 'json' | undefined
          readonly urls?: readonly string[] | undefined
          readonly every_seconds?: number | undefined
        }
      | undefined
    answer: ScreeningList
  }
  'DELETE /screening/lists/{list}': {
    params: { readonly list: string }
    query: None
    body: undefined
    answer: undefined
  }
  'GET /organizations/{organization}/sessions/{session}/checks/lists': {
    params: { readonly organization: string; readonly session: string }
    query: None
    body: undefined
    answer: ListCheck
  }
  'POST /organizations/{organization}/sessions/{session}/checks/lists/{hit}': {
    params: { readonly organization: string; readonly session: string; readonly hit: string }
    query: None
    body: {
      readonly state: 'cleared' | 'confirmed'
      readonly reason: string
    }
    answer: ListCheck
  }
  'GET /organizations/{organization}/screening': {
    params: { readonly organization: string }
    query: None
    body: undefined
    answer: ScreeningSettings
  }
  'PUT /organizations/{organization}/screening': {
    params: { readonly organization: string }
    query: None
    body: {
      /** Lowest score of a hit on a name */
      readonly threshold?: number | undefined
      /** What a new hit does to a session that is completed. `review`: it stays so and waits for a look. `retry`: it goes back to its person. `revoke`: it is rejected, for good */
      readonly on_new_hit?: 'review' | 'retry' | 'revoke' | undefined
      /** Lists that wallets are looked up in; null: the shared ones of sanctioned people and the organization’s `deny` */
      readonly address_lists?: readonly string[] | null | undefined
      /** Screeners that are asked about wallets; null: all that are configured */
      readonly screeners?: readonly string[] | null | undefined
      /** From which score of a screener on a wallet is a hit that it does not flag; null: only flagged ones are */
      readonly screener_score?: number | null | undefined
      /** Screeners are asked about verified wallets, too, when a list of sanctioned people changes */
      readonly screeners_again?: boolean | undefined
    }
    answer: ScreeningSettings
  }
  'POST /organizations/{organization}/screening/trial': {
    params: { readonly organization: string }
    query: None
    body: None | undefined
    answer: ThresholdTrial
  }
  'GET /organizations/{organization}/sessions/{session}/evidence': {
    params: { readonly organization: string; readonly session: string }
    query: None
    body: undefined
    answer: {
      /** Names of the fields that have a value */
      readonly fields: readonly string[]
      readonly documents: readonly EvidenceDocument[]
      /** What the session’s level still requires */
      readonly missing: readonly string[]
    }
  }
  'POST /organizations/{organization}/sessions/{session}/evidence/fields': {
    params: { readonly organization: string; readonly session: string }
    query: None
    body: None | undefined
    answer: {
      readonly full_name: string | null
      readonly birth_date: string | null
      readonly country: string | null
      readonly registered_name: string | null
      readonly registration_number: string | null
      readonly owners: readonly {
        readonly name: string
        readonly share_percent: number
      }[]
    }
  }
  'GET /organizations/{organization}/sessions/{session}/evidence/documents/{document}': {
    params: { readonly organization: string; readonly session: string; readonly document: string }
    query: None
    body: undefined
    answer: Response
  }
  'POST /organizations/{organization}/sessions/{session}/evidence/erase': {
    params: { readonly organization: string; readonly session: string }
    query: None
    body: None | undefined
    answer: {
      /** Number of documents; all fields together count as one */
      readonly erased: number
    }
  }
  'GET /organizations/{organization}/sessions/{session}/checks/documents': {
    params: { readonly organization: string; readonly session: string }
    query: None
    body: undefined
    answer: {
      /** The checks are still running */
      readonly waiting: boolean
      readonly checks: readonly DocumentCheck[]
      /** Country from which the session was handed in, by the geography file; erased with the evidence */
      readonly address_country: string | null
    }
  }
  'POST /organizations/{organization}/sessions/{session}/evidence/zone': {
    params: { readonly organization: string; readonly session: string }
    query: None
    body: None | undefined
    answer: DocumentZone
  }
  'GET /organizations/{organization}/minimum-age': {
    params: { readonly organization: string }
    query: None
    body: undefined
    answer: MinimumAge
  }
  'PUT /organizations/{organization}/minimum-age': {
    params: { readonly organization: string }
    query: None
    body: {
      readonly years?: number | null | undefined
      readonly levels?:
        | {
            readonly basic?: number | null | undefined
            readonly standard?: number | null | undefined
            readonly enhanced?: number | null | undefined
          }
        | undefined
    }
    answer: MinimumAge
  }
  'GET /organizations/{organization}/webhooks': {
    params: { readonly organization: string }
    query: None
    body: undefined
    answer: {
      readonly data: readonly WebhookEndpoint[]
    }
  }
  'POST /organizations/{organization}/webhooks': {
    params: { readonly organization: string }
    query: None
    body: {
      readonly url: string
      /** Whether it receives events of sessions of live keys or of test keys */
      readonly environment?: 'live' | 'test' | undefined
      /** `events` is told of every change; `decisions` is asked to decide what is handed in, in place of reviewers */
      readonly purpose?: 'events' | 'decisions' | undefined
    }
    answer: {
      readonly endpoint: WebhookEndpoint
      /** `whsec_…`, by Standard Webhooks; shown this once and not stored in the clear. null for a repeated request */
      readonly secret: string | null
    }
  }
  'POST /organizations/{organization}/webhooks/{endpoint}/rotate': {
    params: { readonly organization: string; readonly endpoint: string }
    query: None
    body:
      | {
          /** A day unless given */
          readonly overlap_seconds?: number | undefined
        }
      | undefined
    answer: {
      readonly endpoint: WebhookEndpoint
      /** `whsec_…`, by Standard Webhooks; shown this once and not stored in the clear. null for a repeated request */
      readonly secret: string | null
    }
  }
  'PUT /organizations/{organization}/webhooks/{endpoint}/service': {
    params: { readonly organization: string; readonly endpoint: string }
    query: None
    body: {
      readonly service: 'sumsub' | 'persona' | 'veriff'
      /** The service’s secret; stored encrypted and never shown */
      readonly secret: string
      /** A day unless given */
      readonly overlap_seconds?: number | undefined
    }
    answer: WebhookEndpoint
  }
  'DELETE /organizations/{organization}/webhooks/{endpoint}': {
    params: { readonly organization: string; readonly endpoint: string }
    query: None
    body: undefined
    answer: undefined
  }
  'GET /organizations/{organization}/webhook-messages': {
    params: { readonly organization: string }
    query: {
      readonly limit?: number | undefined
      readonly cursor?: string | undefined
      readonly state?: 'waiting' | 'delivered' | 'dead' | undefined
      readonly endpoint_id?: string | undefined
    }
    body: undefined
    answer: {
      readonly data: readonly WebhookMessage[]
      /** Send it as `cursor` for the next page; null on the last. */
      readonly next_cursor: string | null
    }
  }
  'POST /organizations/{organization}/webhook-messages/{message}/resend': {
    params: { readonly organization: string; readonly message: string }
    query: None
    body: None | undefined
    answer: WebhookMessage
  }
  'POST /organizations/{organization}/webhook-messages/resend-dead': {
    params: { readonly organization: string }
    query: None
    body: None | undefined
    answer: {
      readonly messages: number
    }
  }
  'GET /organizations/{organization}/numbers': {
    params: { readonly organization: string }
    query: { readonly days: string; readonly hours_since: string; readonly rules_since: string }
    body: undefined
    answer: OrganizationNumbers
  }
  'GET /organizations/{organization}/decisions/tally': {
    params: { readonly organization: string }
    query: { readonly since: string; readonly by: 'rule' | 'source'; readonly later_since?: string | undefined }
    body: undefined
    answer: DecisionTallies
  }
  'GET /decisions/tally': {
    params: None
    query: { readonly since: string }
    body: undefined
    answer: DecisionTallies
  }
  'GET /organizations/{organization}/decisions': {
    params: { readonly organization: string }
    query: {
      readonly limit?: number | undefined
      readonly cursor?: string | undefined
      readonly wallet?: string | undefined
      readonly project_id?: string | undefined
      readonly policy_id?: string | undefined
      readonly verdict?: 'compliant' | 'denied' | undefined
      readonly rule?: string | undefined
      readonly chain?: string | undefined
      readonly shadow_revision_id?: string | undefined
      readonly shadow?: 'same' | 'different' | 'failed' | undefined
      readonly since?: string | undefined
      readonly until?: string | undefined
    }
    body: undefined
    answer: {
      readonly data: readonly Decision[]
      /** Labels of the bound contracts at `to`, by chain and address as `base/0x…`; contracts without a label are left out */
      readonly labels: Readonly<Record<string, string>>
      readonly next_cursor: string | null
      /** False: the search stopped early and continues with the next page */
      readonly complete: boolean
      /** False: the newest decisions may be missing */
      readonly up_to_date: boolean
    }
  }
  'GET /organizations/{organization}/decisions/count': {
    params: { readonly organization: string }
    query: {
      readonly wallet?: string | undefined
      readonly project_id?: string | undefined
      readonly policy_id?: string | undefined
      readonly verdict?: 'compliant' | 'denied' | undefined
      readonly rule?: string | undefined
      readonly chain?: string | undefined
      readonly shadow_revision_id?: string | undefined
      readonly shadow?: 'same' | 'different' | 'failed' | undefined
      readonly since?: string | undefined
      readonly until?: string | undefined
    }
    body: undefined
    answer: {
      readonly count: number
      /** False: there are more; the count stopped early */
      readonly exact: boolean
    }
  }
  'GET /organizations/{organization}/decisions/export': {
    params: { readonly organization: string }
    query: {
      readonly wallet?: string | undefined
      readonly project_id?: string | undefined
      readonly policy_id?: string | undefined
      readonly verdict?: 'compliant' | 'denied' | undefined
      readonly rule?: string | undefined
      readonly chain?: string | undefined
      readonly shadow_revision_id?: string | undefined
      readonly shadow?: 'same' | 'different' | 'failed' | undefined
      readonly since?: string | undefined
      readonly until?: string | undefined
      readonly format: 'csv' | 'ndjson'
    }
    body: undefined
    answer: Response
  }
  'GET /organizations/{organization}/decisions/{uuid}/proof': {
    params: { readonly organization: string; readonly uuid: string }
    query: None
    body: undefined
    answer: {
      /** A C2SP tlog-proof: line, inclusion proof and signed checkpoint */
      readonly proof: string
      /** Verifier key of the log */
      readonly log_key: string
    }
  }
  'GET /organizations/{organization}/decisions/{uuid}': {
    params: { readonly organization: string; readonly uuid: string }
    query: None
    body: undefined
    answer: {
      readonly decision: Decision
      readonly names: {
        readonly project: string | null
        readonly revision: number | null
        readonly shadow_revision: number | null
        readonly key: string | null
        readonly to: string | null
        readonly contract: string | null
      }
      readonly basis: DecisionBasis
      readonly proof: DecisionProof
    }
  }
  'GET /decision-index': {
    params: None
    query: None
    body: undefined
    answer: {
      readonly decisions: number
      /** Lines of the log that could not be read since the start */
      readonly unreadable: number
      readonly newest_at: string | null
      readonly up_to_date: boolean
    }
  }
  'POST /decision-index/rebuild': {
    params: None
    query: None
    body: None | undefined
    answer: None
  }
  'GET /decision-log/head': {
    params: None
    query: None
    body: undefined
    answer: LogHead
  }
  'POST /decision-log/verify': {
    params: None
    query: None
    body: None | undefined
    answer: Job
  }
  'GET /organizations/{organization}/jobs': {
    params: { readonly organization: string }
    query: { readonly limit?: number | undefined; readonly cursor?: string | undefined }
    body: undefined
    answer: {
      readonly data: readonly Job[]
      /** Send it as `cursor` for the next page; null on the last. */
      readonly next_cursor: string | null
    }
  }
  'GET /organizations/{organization}/jobs/{job}': {
    params: { readonly organization: string; readonly job: string }
    query: None
    body: undefined
    answer: Job
  }
  'POST /organizations/{organization}/jobs/{job}/cancel': {
    params: { readonly organization: string; readonly job: string }
    query: None
    body: None | undefined
    answer: Job
  }
  'GET /jobs': {
    params: None
    query: { readonly limit?: number | undefined; readonly cursor?: string | undefined }
    body: undefined
    answer: {
      readonly data: readonly Job[]
      /** Send it as `cursor` for the next page; null on the last. */
      readonly next_cursor: string | null
    }
  }
  'GET /jobs/{job}': {
    params: { readonly job: string }
    query: None
    body: undefined
    answer: Job
  }
  'POST /jobs/{job}/cancel': {
    params: { readonly job: string }
    query: None
    body: None | undefined
    answer: Job
  }
  'GET /organizations/{organization}/audit': {
    params: { readonly organization: string }
    query: {
      readonly limit?: number | undefined
      readonly cursor?: string | undefined
      readonly action?: string | undefined
      readonly actor?: string | undefined
      readonly subject?: string | undefined
      readonly sequence?: number | undefined
      readonly since?: string | undefined
      readonly until?: string | undefined
      readonly overridden?: boolean | undefined
    }
    body: undefined
    answer: {
      readonly data: readonly AuditEntry[]
      /** Send it as `cursor` for the next page; null on the last. */
      readonly next_cursor: string | null
    }
  }
  'GET /audit': {
    params: None
    query: {
      readonly limit?: number | undefined
      readonly cursor?: string | undefined
      readonly action?: string | undefined
      readonly actor?: string | undefined
      readonly subject?: string | undefined
      readonly sequence?: number | undefined
      readonly since?: string | undefined
      readonly until?: string | undefined
      readonly overridden?: boolean | undefined
    }
    body: undefined
    answer: {
      readonly data: readonly AuditEntry[]
      /** Send it as `cursor` for the next page; null on the last. */
      readonly next_cursor: string | null
    }
  }
  'GET /organizations/{organization}/audit/export': {
    params: { readonly organization: string }
    query: {
      readonly action?: string | undefined
      readonly actor?: string | undefined
      readonly subject?: string | undefined
      readonly sequence?: number | undefined
      readonly since?: string | undefined
      readonly until?: string | undefined
      readonly overridden?: boolean | undefined
      readonly format: 'csv' | 'ndjson'
    }
    body: undefined
    answer: Response
  }
  'GET /audit/export': {
    params: None
    query: {
      readonly action?: string | undefined
      readonly actor?: string | undefined
      readonly subject?: string | undefined
      readonly sequence?: number | undefined
      readonly since?: string | undefined
      readonly until?: string | undefined
      readonly overridden?: boolean | undefined
      readonly format: 'csv' | 'ndjson'
    }
    body: undefined
    answer: Response
  }
  'GET /audit/verify': {
    params: None
    query: None
    body: undefined
    answer: AuditVerification
  }
  'GET /organizations/{organization}/find': {
    params: { readonly organization: string }
    query: { readonly text: string }
    body: undefined
    answer: {
      readonly found: readonly {
        readonly kind:
          | 'policy'
          | 'project'
          | 'key'
          | 'list'
          | 'member'
          | 'webhook'
          | 'session'
          | 'decision'
          | 'decisions'
        /** Id of what was found; for `decisions` the wallet to search for */
        readonly id: string
        readonly name: string
        /** Tells it apart from others of the same name */
        readonly detail: string
      }[]
    }
  }
  'GET /deployment': {
    params: None
    query: None
    body: undefined
    answer: {
      readonly id: string
      readonly version: string
      /** Signing backend */
      readonly signer: string
      /** Where the attestation and identity APIs answer, without a trailing slash */
      readonly api_url: string
      /** Whether the API reference is served at `/docs` */
      readonly reference: boolean
      readonly chains: readonly {
        readonly name: string
        readonly family: 'evm' | 'solana'
        readonly chain_id: number | null
      }[]
    }
  }
  'GET /deployment/settings': {
    params: None
    query: None
    body: undefined
    answer: DeploymentSettings
  }
  'PATCH /deployment/settings': {
    params: None
    query: { readonly comment?: string | undefined }
    body: {
      readonly second_person: boolean
    }
    answer: DeploymentSettings | Approval
  }
  'GET /pool': {
    params: None
    query: None
    body: undefined
    answer: Pool
  }
  'PATCH /pool': {
    params: None
    query: None
    body:
      | {
          readonly processes?: number | undefined
          /** Of each process */
          readonly workers?: number | undefined
        }
      | undefined
    answer: Pool
  }
  'GET /live': {
    params: None
    query: { readonly window?: '15m' | '24h' | undefined; readonly limit?: number | undefined }
    body: undefined
    answer: {
      readonly points: readonly LivePoint[]
    }
  }
  'GET /live/events': {
    params: None
    query: { readonly window?: '15m' | '24h' | undefined }
    body: undefined
    answer: {
      readonly events: readonly LiveEvent[]
    }
  }
  'GET /live/stream': {
    params: None
    query: None
    body: undefined
    answer: Response
  }
  'GET /attesters': {
    params: None
    query: None
    body: undefined
    answer: {
      readonly data: readonly Attester[]
    }
  }
  'POST /attesters': {
    params: None
    query: { readonly comment?: string | undefined }
    body: {
      /** secp256k1 for EVM chains, Ed25519 for Solana */
      readonly kind: 'secp256k1' | 'ed25519'
      /** Label of the key in the token, or its PKCS#11 URI */
      readonly token_key?: string | undefined
    }
    answer: Attester | Approval
  }
  'POST /attesters/{attester}/retire': {
    params: { readonly attester: string }
    query: { readonly comment?: string | undefined }
    body:
      | {
          readonly final?: boolean | undefined
        }
      | undefined
    answer: Attester | Approval
  }
  'GET /chain-checks': {
    params: None
    query: None
    body: undefined
    answer: {
      readonly data: readonly ChainFinding[]
    }
  }
  'GET /openapi.json': {
    params: None
    query: None
    body: undefined
    answer: Readonly<Record<string, unknown>>
  }
  'GET /openapi/{document}': {
    params: { readonly document: string }
    query: None
    body: undefined
    answer: Readonly<Record<string, unknown>>
  }
  'GET /organizations/{organization}/approvals': {
    params: { readonly organization: string }
    query: {
      readonly limit?: number | undefined
      readonly cursor?: string | undefined
      readonly state?: 'pending' | 'approved' | 'rejected' | 'expired' | undefined
    }
    body: undefined
    answer: {
      readonly data: readonly Approval[]
      /** Send it as `cursor` for the next page; null on the last. */
      readonly next_cursor: string | null
    }
  }
  'GET /organizations/{organization}/approvals/waiting': {
    params: { readonly organization: string }
    query: None
    body: undefined
    answer: {
      /** Changes that can be decided now */
      readonly waiting: number
    }
  }
  'POST /organizations/{organization}/approvals/{approval}/decide': {
    params: { readonly organization: string; readonly approval: string }
    query: None
    body: {
      /** False rejects; the requester may only reject */
      readonly approve: boolean
    }
    answer: Approval
  }
  'GET /approvals': {
    params: None
    query: {
      readonly limit?: number | undefined
      readonly cursor?: string | undefined
      readonly state?: 'pending' | 'approved' | 'rejected' | 'expired' | undefined
    }
    body: undefined
    answer: {
      readonly data: readonly Approval[]
      /** Send it as `cursor` for the next page; null on the last. */
      readonly next_cursor: string | null
    }
  }
  'GET /approvals/waiting': {
    params: None
    query: None
    body: undefined
    answer: {
      /** Changes that can be decided now */
      readonly waiting: number
    }
  }
  'POST /approvals/{approval}/decide': {
    params: { readonly approval: string }
    query: None
    body: {
      /** False rejects; the requester may only reject */
      readonly approve: boolean
    }
    answer: Approval
  }
}
