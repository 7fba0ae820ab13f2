// The roles of a process: the parts of the service that it may serve, or leave to other processes of the deployment.

export const PROCESS_ROLES = ['attestation', 'identity', 'portal', 'dashboard'] as const
export type ProcessRole = (typeof PROCESS_ROLES)[number]

/** The roles with tasks that one process of the deployment runs. */
export const LEADER_ROLES = ['attestation', 'identity'] as const satisfies readonly ProcessRole[]
export type LeaderRole = (typeof LEADER_ROLES)[number]
