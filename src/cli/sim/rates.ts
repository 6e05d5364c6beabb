import { type CommandArguments, UsageError } from '../command.ts'

/**
 * The chances of `--faults name=rate,…` by name.
 *
 * @throws UsageError for another form, or a name that is not one of these
 */
export const faultRates = <Name extends string>(
  args: CommandArguments,
  names: readonly Name[],
): ReadonlyMap<Name, number> => {
  const pairs = (args.text('faults') ?? '').split(',').filter((pair) => pair !== '')
  return new Map(
    pairs.map((pair) => {
      const [, text = '', rate = ''] = /^([a-z_]+)=([01](?:\.\d{1,6})?)$/.exec(pair) ?? []
      const name = names.find((one) => one === text)
      if (name === undefined || Number(rate) > 1) {
        throw new UsageError(`--faults is name=rate,… with rates from 0 to 1: ${names.join(', ')}`)
      }
      return [name, Number(rate)] as const
    }),
  )
}
