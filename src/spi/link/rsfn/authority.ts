import { rsfnAuthorities } from '#codecs/rsfn'

/** One certificate as the header names it: authority code (C10, C12) and hexadecimal serial. */
export type RsfnParty = { readonly authority: number; readonly serial: string }

const plain = (text: string): string => text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()

/**
 * The code of the authority that issued a certificate: by its name, or else by the number of its chain (`CSPB-4`).
 *
 * @returns undefined for an authority that the network does not know
 */
export const authorityOf = (issuer: string): number | undefined => {
  const text = plain(issuer)
  const named = Object.entries(rsfnAuthorities).find(([, name]) => text.includes(plain(name)))
  const code = named?.[0] ?? /\bcspb-(\d{1,2})\b/.exec(text)?.[1]
  return code !== undefined && code in rsfnAuthorities ? Number(code) : undefined
}
