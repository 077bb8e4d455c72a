package trodden.drivers;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.lucene.analysis.standard.StandardAnalyzer;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.StringField;
import org.apache.lucene.document.TextField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.SerialMergeScheduler;
import org.apache.lucene.queryparser.classic.QueryParser;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.store.ByteBuffersDirectory;

/** Indexes the text of source files in memory, then asks queries of several kinds. */
final class LuceneDriver extends Driver {
    private static final int ROUNDS = 60;
    private static final String[] QUERIES = {
        "matrix", "\"array of\" AND length", "immut*", "iterator OR iterable", "+null -string", "thread~1",
        "(hash OR tree) AND (map OR set)", "\"throws exception\"~4", "comp?re", "probability distribution",
    };
    private final Map<String, String> texts = new TreeMap<>();

    public static void main(String[] args) throws Exception {
        new LuceneDriver().drive(args);
    }

    @Override
    String name() {
        return "lucene";
    }

    @Override
    void prepare(List<Path> inputs) throws Exception {
        for (Path input : inputs) {
            texts.putAll(Sources.read(input, n -> n.endsWith(".java")));
        }
    }

    @Override
    void iterate() throws Exception {
        StandardAnalyzer analyzer = new StandardAnalyzer();
        try (ByteBuffersDirectory directory = new ByteBuffersDirectory()) {
            // Merges in this thread: the order of segments, hence of equal scores, is the same in every run.
            IndexWriterConfig config = new IndexWriterConfig(analyzer).setMergeScheduler(new SerialMergeScheduler());
            try (IndexWriter writer = new IndexWriter(directory, config)) {
                for (var text : texts.entrySet()) {
                    Document document = new Document();
                    document.add(new StringField("name", text.getKey(), Field.Store.YES));
                    document.add(new TextField("text", text.getValue(), Field.Store.NO));
                    writer.addDocument(document);
                }
            }
            try (DirectoryReader reader = DirectoryReader.open(directory)) {
                search(new IndexSearcher(reader), analyzer);
            }
        }
    }

    private void search(IndexSearcher searcher, StandardAnalyzer analyzer) throws Exception {
        QueryParser parser = new QueryParser("text", analyzer);
        for (int round = 0; round < ROUNDS; round++) {
            for (String query : QUERIES) {
                for (ScoreDoc hit : searcher.search(parser.parse(query), 20 + round).scoreDocs) {
                    add(searcher.storedFields().document(hit.doc).get("name"));
                    add(Math.round(hit.score * 1000));
                }
            }
        }
    }
}
