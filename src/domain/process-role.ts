// Roles of a process: parts of the service that it serves, or leaves to other processes.

export const PROCESS_ROLES = ['attestation', 'identity', 'portal', 'dashboard'] as const
export type ProcessRole = (typeof PROCESS_ROLES)[number]

/** Roles with tasks that one process of the deployment runs. */
export const LEADER_ROLES = ['attestation', 'identity'] as const satisfies readonly ProcessRole[]
export type LeaderRole = (typeof LEADER_ROLES)[number]
