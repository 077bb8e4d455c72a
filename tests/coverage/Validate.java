import java.io.File;
import java.io.FileInputStream;
import javax.xml.parsers.DocumentBuilder;
import javax.xml.parsers.DocumentBuilderFactory;
import org.xml.sax.ErrorHandler;
import org.xml.sax.InputSource;
import org.xml.sax.SAXParseException;

/** Validates an XML file against a DTD: Validate FILE DTD. */
public class Validate {
    public static void main(String[] args) throws Exception {
        DocumentBuilderFactory factory = DocumentBuilderFactory.newInstance();
        factory.setValidating(true);
        DocumentBuilder builder = factory.newDocumentBuilder();
        builder.setEntityResolver((id, system) -> {
            InputSource dtd = new InputSource(new FileInputStream(args[1]));
            dtd.setSystemId(system);
            return dtd;
        });
        builder.setErrorHandler(new ErrorHandler() {
            public void warning(SAXParseException e) throws SAXParseException {
                throw e;
            }

            public void error(SAXParseException e) throws SAXParseException {
                throw e;
            }

            public void fatalError(SAXParseException e) throws SAXParseException {
                throw e;
            }
        });
        builder.parse(new File(args[0]));
        System.out.println("valid");
    }
}
