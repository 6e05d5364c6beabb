import { count } from './format.ts'

/** How many lanes the API lists, and how many open transactions it sends again at once on each network. */
export const [lanesMax, resentMax] = [500, 500]
/** It counts those of a lane no further. */
const openMax = 1_000

/** `1,000+` where more may be open than were counted. */
export const openText = (open: number): string => `${count(open)}${open >= openMax ? '+' : ''}`
