import { count } from './format.ts'

/** How many lanes the API lists, and how many open transactions it sends again at once on each network. */
export const [lanesMax, resentMax] = [500, 500]
/** The API counts the open transactions of a lane up to this. */
const openMax = 1_000

/** `1,000+`: more may be open than the API counted. */
export const openText = (open: number): string => `${count(open)}${open >= openMax ? '+' : ''}`
