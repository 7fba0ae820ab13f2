// How a person starts this program: from the source, or as the one file.

export const PROGRAM = Bun.isStandaloneExecutable ? 'countersign' : 'bun run countersign'
export const START = Bun.isStandaloneExecutable ? 'countersign start' : 'bun start'
