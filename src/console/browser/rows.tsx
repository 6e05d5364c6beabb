import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'

/** What lies so far from what is seen is not drawn, in the notation of style sheets. */
const nearMargin = '1000px'

/**
 * A part of a long table's rows: drawn while it is near, else as much empty room as it took. Its height is measured,
 * since a row has more lines on a phone.
 *
 * @param isFirst is drawn always: the widths of the columns come of it, and what is new
 */
export const Rows = ({
  isFirst,
  columns,
  children,
}: {
  readonly isFirst: boolean
  readonly columns: number
  /** Made only while they are drawn. */
  readonly children: () => ComponentChildren
}) => {
  const body = useRef<HTMLTableSectionElement>(null)
  const [room, setRoom] = useState<number>()
  useEffect(() => {
    const own = body.current
    if (own === null || isFirst) return
    const observer = new IntersectionObserver(
      ([entry]) => {
        if (entry === undefined) return
        // Somebody who is in it by keyboard must not lose their place.
        const isFar = !entry.isIntersecting && !own.contains(document.activeElement)
        setRoom(isFar ? own.getBoundingClientRect().height : undefined)
      },
      { rootMargin: nearMargin },
    )
    observer.observe(own)
    return () => observer.disconnect()
  }, [isFirst])
  return (
    <tbody ref={body}>
      {room === undefined ? (
        children()
      ) : (
        <tr class="room" style={{ height: `${room}px` }}>
          <td colSpan={columns} />
        </tr>
      )}
    </tbody>
  )
}
