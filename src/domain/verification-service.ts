// The verification services that are known by name. How each signs and decides: src/identity/webhooks/services.
export const VERIFICATION_SERVICES = ['sumsub', 'persona', 'veriff'] as const
export type VerificationServiceName = (typeof VERIFICATION_SERVICES)[number]
