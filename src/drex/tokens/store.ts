import type { Client } from '#src/platform/database/index.ts'
import type { Hex } from '../evm/hex.ts'

/** @returns the decimals that a token had when it was first used */
export const pinnedDecimals = async (
  sql: Client,
  network: string,
  address: Hex,
): Promise<number | undefined> => {
  const [row] = await sql<{ decimals: number }[]>`
    select decimals from drex_tokens where network = ${network} and address = ${address}`
  return row?.decimals
}

/** Keeps the decimals of a token's first use. @returns those that are kept */
export const pinDecimals = async (
  sql: Client,
  token: {
    readonly network: string
    readonly address: Hex
    readonly decimals: number
    /** Also in place of others: a network that began anew has other tokens at its addresses. */
    readonly isReplacing: boolean
  },
): Promise<number> => {
  const { network, address, decimals, isReplacing } = token
  const [row] = await sql<{ decimals: number }[]>`
    insert into drex_tokens as t (network, address, decimals)
    values (${network}, ${address}, ${decimals})
    on conflict (network, address) do update
      set decimals = case when ${isReplacing} then excluded.decimals else t.decimals end
    returning decimals`
  return row?.decimals ?? decimals
}
