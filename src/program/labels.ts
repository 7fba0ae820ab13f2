// Command lines for messages: from source, or with the single-file executable.

export const PROGRAM = Bun.isStandaloneExecutable ? 'countersign' : 'bun run countersign'
export const START = Bun.isStandaloneExecutable ? 'countersign start' : 'bun start'

/**
 * First argument of the service that `restore --try` starts. It isn't a setting, because it must not be used in
 * production.
 */
export const TRIAL_WORD = '--trial-of-a-restore'
