// Result type of the inspections of a deployment.
/** One line of the report of `countersign doctor`. The detail states the remedy. */
export interface Finding {
  readonly check: string
  readonly subject: string
  /** `problem`: something fails or will fail soon. `note`: information only. */
  readonly result: 'ok' | 'note' | 'problem'
  readonly detail: string
}
