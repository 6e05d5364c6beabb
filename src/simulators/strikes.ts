/** When a fault of a simulator strikes. */
export type Strike = {
  readonly kind: string
  /** Chance each time, 0 to 1; certain when absent. */
  readonly probability?: number
  /** Times left to strike; unlimited when absent. */
  readonly times?: number
}

export type Strikes<F extends Strike> = {
  /** Replaces all faults. */
  readonly set: (faults: readonly F[]) => void
  /** The faults that have times left. */
  readonly active: () => readonly F[]
  /** The first fault of these kinds that strikes in what concerns it now, or undefined. */
  readonly strike: (kinds: readonly F['kind'][], concerns: (fault: F) => boolean) => F | undefined
}

/** @param random source of chance in [0, 1), so that a run can be repeated */
export const createStrikes = <F extends Strike>(random: () => number): Strikes<F> => {
  let entries: { readonly fault: F; left: number }[] = []
  return {
    set: (faults) => {
      entries = faults.map((fault) => ({ fault, left: fault.times ?? Number.POSITIVE_INFINITY }))
    },
    active: () => entries.filter(({ left }) => left > 0).map(({ fault }) => fault),
    strike: (kinds, concerns) => {
      const struck = entries.find(
        ({ fault, left }) =>
          left > 0 &&
          kinds.includes(fault.kind) &&
          concerns(fault) &&
          (fault.probability === undefined || random() < fault.probability),
      )
      if (struck !== undefined) struck.left--
      return struck?.fault
    },
  }
}
