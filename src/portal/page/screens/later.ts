// Screens after the consent, loaded as one bundle while the person reads it.
import { Details } from './details.tsx'
import { Documents } from './documents.tsx'
import { Elsewhere } from './elsewhere.tsx'
import { Outcome } from './outcome.tsx'
import { Review } from './review.tsx'
import { Wallets } from './wallets.tsx'

export const LATER_SCREENS = { Wallets, Details, Documents, Review, Outcome, Elsewhere }
