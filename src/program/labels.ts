// How a person starts this program: from the source, or as the one file.

export const PROGRAM = Bun.isStandaloneExecutable ? 'countersign' : 'bun run countersign'
export const START = Bun.isStandaloneExecutable ? 'countersign start' : 'bun start'

/** First argument of the service that `restore --try` starts. No setting: it is no way to run a deployment. */
export const TRIAL_WORD = '--trial-of-a-restore'
