import type { Delivery } from '../types.ts'

/** A partition that this member reads, with what was read and is not yet handed out. */
export type Lease = {
  readonly partition: number
  /** The group is to go on here: past the last message settled. */
  position: bigint
  /** Next offset to ask for. */
  fetchFrom: bigint
  readonly ready: Delivery[]
  readyBytes: number
}

export const newLease = (partition: number, position: bigint): Lease => ({
  partition,
  position,
  fetchFrom: position,
  ready: [],
  readyBytes: 0,
})
