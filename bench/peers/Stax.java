import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import javax.xml.stream.XMLInputFactory;
import javax.xml.stream.XMLStreamConstants;
import javax.xml.stream.XMLStreamReader;

/** Counts elements with the streaming parser of the JDK, as program.ts asks: a count of documents a line. */
class Stax {
  public static void main(String[] arguments) throws Exception {
    List<byte[]> documents = new ArrayList<>();
    ByteBuffer all = ByteBuffer.wrap(Files.readAllBytes(Path.of(arguments[0])));
    while (all.hasRemaining()) {
      byte[] document = new byte[all.getInt()];
      all.get(document);
      documents.add(document);
    }
    XMLInputFactory factory = XMLInputFactory.newInstance();
    factory.setProperty(XMLInputFactory.SUPPORT_DTD, false);
    var system = (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    BufferedReader asked = new BufferedReader(new InputStreamReader(System.in));
    for (String line = asked.readLine(); line != null; line = asked.readLine()) {
      long elements = 0;
      int times = Integer.parseInt(line);
      for (int i = 0; i < times; i++) {
        XMLStreamReader reader =
            factory.createXMLStreamReader(new ByteArrayInputStream(documents.get(i % documents.size())));
        while (reader.hasNext()) if (reader.next() == XMLStreamConstants.START_ELEMENT) elements++;
        reader.close();
      }
      System.out.println(elements + " " + system.getProcessCpuTime() / 1000);
    }
  }
}
