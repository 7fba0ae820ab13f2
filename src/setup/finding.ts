// What an inspection of the deployment finds.
/** One line of the report of `countersign doctor`. Its detail says what to do. */
export interface Finding {
  readonly check: string
  readonly subject: string
  /** `problem`: something fails or soon will. `note`: worth knowing. */
  readonly result: 'ok' | 'note' | 'problem'
  readonly detail: string
}
